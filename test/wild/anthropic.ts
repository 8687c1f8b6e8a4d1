import Anthropic from "@anthropic-ai/sdk";
import { anthropic } from "../../src/dialects/anthropic/index.ts";
import type { Exchange } from "./corpus.ts";
import type { Asked, Seen, Source, WildProvider } from "./provider.ts";
import { KEY_HEADER } from "./serve.ts";

type Json = Record<string, unknown>;

export const anthropicRecordings: WildProvider = {
  name: "anthropic-messages",
  operation: anthropic.operations.find(({ name }) => name === "anthropic-messages")!,
  claims: ({ path, messages }) => {
    if (path !== undefined) return path === "/v1/messages";
    const type = (messages?.[0] as Json | undefined)?.["type"];
    return type === "message" || type === "message_start";
  },
  starts: (message) => (message as Json | undefined)?.["type"] === "message_start",
  asked,
  read,
  readEvents,
  misreads: beginsWithBlocks,
  added: ["rest.content.*.caller"],
};

/** The blocks that follow are then counted from 0 again, and the accumulator takes them for those before. */
function beginsWithBlocks({ messages }: Exchange): boolean {
  const start = messages?.[0] as { message?: { content?: unknown[] } } | undefined;
  return (start?.message?.content?.length ?? 0) > 0;
}

export function asked(body: Json): Asked {
  const messages = body["messages"] as { role: string; content: string | Json[] }[];
  const system = [body["system"], ...messages.filter(({ role }) => role === "system").map(({ content }) => content)];
  // Tool results stand in user messages; what a message holds besides is what the user says.
  const said = messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => {
      if (typeof content === "string") return [content];
      const last = content.findLastIndex(({ type }) => type === "tool_result");
      const after = content.slice(last + 1);
      return after.length > 0 ? [textOf(after)] : [];
    });
  return {
    model: body["model"] as string,
    lastUserText: said.at(-1),
    systemText: system
      .filter((content) => content !== undefined)
      .map(textOf)
      .join("\n"),
    toolNames: ((body["tools"] ?? []) as Json[]).flatMap(({ name }) => (typeof name === "string" ? [name] : [])),
    toolResults: messages
      .flatMap(({ content }) => (typeof content === "string" ? [] : content))
      .filter(({ type }) => type === "tool_result")
      .map(({ tool_use_id: id, content }) => [id as string, textOf(content)]),
  };
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return (content ?? "") as string;
  return content.map((block: { text?: string }) => block.text ?? "").join("");
}

export function clientOf({ url, key }: Source): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0, defaultHeaders: { [KEY_HEADER]: key } });
}

function ask(source: Source) {
  return {
    client: clientOf(source),
    body: { model: "any", max_tokens: 100, messages: [{ role: "user" as const, content: "any" }] },
  };
}

async function read(source: Source): Promise<Seen> {
  const { client, body } = ask(source);
  const message = source.streamed
    ? await client.beta.messages.stream(body).finalMessage()
    : await client.beta.messages.create(body);
  return seen(message as unknown as Json);
}

async function readEvents(source: Source): Promise<Seen> {
  const { client, body } = ask(source);
  const events = await client.beta.messages.create({ ...body, stream: true });
  let message: Json = {};
  let given: Json[] = [];
  const blocks: Json[] = [];
  for await (const event of events as AsyncIterable<unknown>) {
    const { type, index, message: start, content_block: block, delta, usage, ...rest } = event as Json;
    switch (type) {
      case "message_start":
        message = { ...(start as Json) };
        given = message["content"] as Json[];
        break;
      case "content_block_start":
        blocks[index as number] = { ...(block as Json) };
        break;
      case "content_block_delta":
        addDelta(blocks[index as number]!, delta as Json);
        break;
      case "message_delta":
        message = {
          ...message,
          ...rest,
          ...(delta as Json),
          usage: { ...(message["usage"] as Json), ...(usage as Json) },
        };
        break;
    }
  }
  return seen({ ...message, content: [...given, ...blocks.map(withInput)] });
}

function addDelta(block: Json, delta: Json): void {
  const { type, text, thinking, signature, citation, partial_json: json, content } = delta;
  switch (type) {
    case "text_delta":
      block["text"] += text as string;
      break;
    case "thinking_delta":
      block["thinking"] += thinking as string;
      break;
    case "signature_delta":
      block["signature"] = signature;
      break;
    case "citations_delta":
      block["citations"] = [...((block["citations"] ?? []) as unknown[]), citation];
      break;
    case "input_json_delta":
      block["json"] = ((block["json"] ?? "") as string) + (json as string);
      break;
    case "compaction_delta":
      block["content"] = ((block["content"] ?? "") as string) + (content as string);
      break;
  }
}

function withInput({ json, ...block }: Json): Json {
  return json ? { ...block, input: JSON.parse(json as string) } : block;
}

function seen(message: Json): Seen {
  const { content, stop_reason, stop_sequence, usage, ...rest } = message;
  const blocks = content as Json[];
  const ofType = (...types: string[]): Json[] => blocks.filter(({ type }) => types.includes(type as string));
  return {
    text: ofType("text").map((block) => block["text"]),
    reasoning: ofType("thinking", "redacted_thinking").map(({ thinking, signature, data }) => [
      thinking,
      signature,
      data,
    ]),
    toolCalls: ofType("tool_use").map(({ id, name, input }) => [id, name, input]),
    finish: [stop_reason, stop_sequence],
    usage,
    // An input that came in pieces is a getter on a block of the SDK's making.
    rest: {
      ...rest,
      content: blocks.map((block) => ({ ...block, ...("input" in block && { input: block["input"] }) })),
    },
  };
}
