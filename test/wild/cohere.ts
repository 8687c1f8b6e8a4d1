import { CohereClient } from "cohere-ai";
import { cohere } from "../../src/dialects/cohere/index.ts";
import type { Asked, Seen, Source, WildProvider } from "./provider.ts";
import { KEY_HEADER } from "./serve.ts";

type Json = Record<string, unknown>;

export const cohereRecordings: WildProvider = {
  name: "cohere-chat",
  operation: cohere.operations[0]!,
  claims: ({ path, folder }) => (path === undefined ? folder === "cohere-chat" : path === "/v2/chat"),
  starts: (message) => (message as Json | null)?.["type"] === "message-start",
  asked,
  read,
};

function asked(body: Json): Asked {
  const messages = body["messages"] as Json[];
  const ofRole = (role: string): Json[] => messages.filter((message) => message["role"] === role);
  return {
    model: body["model"] as string,
    lastUserText: ofRole("user").map(textOf).at(-1),
    systemText: ofRole("system").map(textOf).join("\n"),
    toolNames: ((body["tools"] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name),
    toolResults: ofRole("tool").map((message) => [message["tool_call_id"] as string, textOf(message)]),
  };
}

function textOf({ content }: Json): string {
  if (typeof content === "string") return content;
  return (content as { text?: string }[]).map(({ text }) => text ?? "").join("");
}

async function read({ url, key, streamed }: Source): Promise<Seen> {
  const client = new CohereClient({ environment: url, token: "none" }).v2;
  const request = { model: "any", messages: [{ role: "user" as const, content: "any" }] };
  const options = { headers: { [KEY_HEADER]: key }, maxRetries: 0 };
  if (!streamed) return seen((await client.chat(request, options)) as unknown as Json);
  const reply: Json = {};
  const message: Json = { content: [], toolCalls: [], citations: [] };
  for await (const event of await client.chatStream(request, options)) {
    add(event as unknown as Json, reply, message);
  }
  return seen({ ...reply, message });
}

function add(event: Json, reply: Json, message: Json): void {
  const { type, id, index, delta } = event as { type: string; id?: string; index: number; delta: Json };
  const { message: piece, ...rest } = (delta ?? {}) as { message: Json };
  const list = (name: string): Json[] => message[name] as Json[];
  switch (type) {
    case "message-start":
      reply["id"] = id;
      message["role"] = piece["role"];
      break;
    case "content-start":
      list("content")[index] = { ...(piece["content"] as Json) };
      break;
    case "content-delta":
      grow(list("content")[index]!, piece["content"] as Json);
      break;
    case "tool-plan-delta":
      grow(message, piece);
      break;
    case "tool-call-start":
      list("toolCalls")[index] = structuredClone(piece["toolCalls"] as Json);
      break;
    case "tool-call-delta":
      grow(list("toolCalls")[index]!["function"] as Json, (piece["toolCalls"] as { function: Json }).function);
      break;
    case "citation-start":
      list("citations").push(piece["citations"] as Json);
      break;
    case "message-end":
      Object.assign(reply, rest);
      break;
  }
}

function grow(whole: Json, piece: Json): void {
  for (const [name, text] of Object.entries(piece)) whole[name] = `${whole[name] ?? ""}${text}`;
}

function seen(reply: Json): Seen {
  const { message, finishReason, usage, ...rest } = reply;
  const { content, toolPlan, toolCalls, ...others } = message as Json;
  const parts = (content ?? []) as Json[];
  return {
    text: parts.filter(({ type }) => type === "text").map(({ text }) => text),
    reasoning: [toolPlan, ...parts.filter(({ type }) => type === "thinking").map(({ thinking }) => thinking)],
    toolCalls,
    finish: finishReason,
    usage,
    rest: { ...rest, message: others },
  };
}
