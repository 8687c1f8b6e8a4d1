import { HTTPClient, Mistral } from "@mistralai/mistralai";
import type { ChatCompletionResponse, CompletionChunk } from "@mistralai/mistralai/models/components";
import { compatibleRecordings } from "./openai-chat.ts";
import type { Seen, Source, WildProvider } from "./provider.ts";
import { KEY_HEADER } from "./serve.ts";

type Json = Record<string, unknown>;

const mistral = compatibleRecordings.find(({ name }) => name === "mistral")!;

/** Mistral's recordings again, through its own SDK, which checks what it is sent more closely than OpenAI's. */
export const mistralSdkRecordings: WildProvider = {
  ...mistral,
  name: "mistral (own SDK)",
  read,
  readEvents: read,
  misreads: () => false,
};

async function read({ url, key, streamed }: Source): Promise<Seen> {
  const httpClient = new HTTPClient();
  httpClient.addHook("beforeRequest", (request) => {
    request.headers.set(KEY_HEADER, key);
  });
  const client = new Mistral({ serverURL: url, apiKey: "none", httpClient, retryConfig: { strategy: "none" } });
  const request = { model: "any", messages: [{ role: "user" as const, content: "any" }] };
  if (!streamed) return seenWhole(await client.chat.complete(request));
  const chunks: CompletionChunk[] = [];
  for await (const { data } of await client.chat.stream(request)) chunks.push(data);
  return seenPieces(chunks);
}

function seenWhole({ choices = [], usage, ...rest }: ChatCompletionResponse): Seen {
  const messages = choices.map(({ message }) => message);
  return {
    text: messages.map((message) => textIn(message?.content, "text")),
    reasoning: messages.map((message) => textIn(message?.content, "thinking")),
    toolCalls: messages.map((message) => message?.toolCalls),
    finish: choices.map(({ finishReason }) => finishReason),
    usage,
    rest: { ...rest, roles: messages.map((message) => message?.role) },
  };
}

function seenPieces(chunks: CompletionChunk[]): Seen {
  const pieces = chunks.flatMap(({ choices }) => choices);
  const { id, model, created } = chunks[0]!;
  const join = (type: "text" | "thinking"): string => pieces.map(({ delta }) => textIn(delta.content, type)).join("");
  return {
    text: [join("text")],
    reasoning: [join("thinking")],
    toolCalls: [pieces.flatMap(({ delta }) => delta.toolCalls ?? [])],
    finish: pieces.flatMap(({ finishReason }) => finishReason ?? []),
    usage: chunks.find(({ usage }) => usage !== undefined)?.usage,
    rest: { id, model, created, object: chunks[0]!.object, roles: [pieces[0]!.delta.role] },
  };
}

function textIn(content: unknown, type: "text" | "thinking"): string {
  if (!Array.isArray(content)) return type === "text" && typeof content === "string" ? content : "";
  return (content as Json[])
    .filter((part) => part["type"] === type)
    .map((part) => (type === "text" ? part["text"] : (part["thinking"] as Json[]).map(({ text }) => text).join("")))
    .join("");
}
