import OpenAI from "openai";
import { openaiChat } from "../../src/dialects/openai-chat/index.ts";
import { openaiCompatible } from "../../src/dialects/openai-compatible/index.ts";
import { openRouter } from "../../src/dialects/openrouter/index.ts";
import type { Operation } from "../../src/dialects/operation.ts";
import type { Exchange } from "./corpus.ts";
import type { Asked, Seen, Source, WildProvider } from "./provider.ts";
import { KEY_HEADER } from "./serve.ts";

type Json = Record<string, unknown>;

interface Place {
  operation: Operation;
  /** What stands before `/chat/completions`. */
  base: string;
  mine(exchange: Exchange): boolean;
}

function provider(name: string, { operation, base, mine }: Place): WildProvider {
  return {
    name,
    operation,
    claims: (exchange) => isChat(exchange) && mine(exchange),
    asked,
    read: (source) => read(source, base),
    readEvents: (source) => readEvents(source, base),
    misreads,
    // Of an error, which Groq's has not; and what OpenRouter now repeats at the end.
    added: ["rest.param", "rest.choices.*.native_finish_reason"],
  };
}

/**
 * What the SDK's accumulator does not know it overwrites instead of joining it: reasoning, a content that is a
 * list, tool calls without an index. And a usage is lost when a chunk without one comes after it.
 */
function misreads({ messages = [] }: Exchange): boolean {
  const counted = messages.findIndex((message) => (message as Json)["usage"] != null);
  if (counted >= 0 && counted < messages.length - 1) return true;
  return messages.some((message) =>
    ((message as { choices?: { delta?: Json }[] }).choices ?? []).some(({ delta = {} }) => {
      const calls = (delta["tool_calls"] ?? []) as Json[];
      const { reasoning_content, reasoning, reasoning_details, content } = delta;
      return (
        reasoning_content ||
        reasoning ||
        reasoning_details ||
        Array.isArray(content) ||
        calls.some((call) => !("index" in call))
      );
    }),
  );
}

function isChat({ path, messages, request }: Exchange): boolean {
  if (path !== undefined) return path.endsWith("/chat/completions");
  const first = messages?.[0] as { choices?: unknown } | undefined;
  return Array.isArray(first?.choices) && request === undefined;
}

/** Whose reply it is: a folder of its own, or one of those that speak OpenAI's chat. */
function ownerOf({ folder, file, path }: Exchange): string {
  if (path?.startsWith("/together/")) return "together";
  const owner = folder === "openai-compatible" ? file.split("/")[2]! : folder;
  // What was recorded from xAI for a client of any.
  return owner === "generic" ? "xai" : owner;
}

const BASES: Record<string, string> = {
  deepseek: "/deepseek",
  groq: "/groq/openai/v1",
  zai: "/api/paas/v4",
  perplexity: "/perplexity",
  "ollama-openai": "/ollama/v1",
};

const compatible = [...openaiCompatible, openRouter];

/** Of each that was recorded, on its own path. */
export const compatibleRecordings: WildProvider[] = compatible
  .filter(({ name }) => name !== "huggingface")
  .map(({ name, operations }) =>
    provider(name, {
      operation: operations[0]!,
      base: name === "openrouter" ? "/api/v1" : (BASES[name] ?? `/${name}/v1`),
      mine: (exchange) => ownerOf(exchange) === name.split("-")[0],
    }),
  );

const owners = new Set(compatible.map(({ name }) => name.split("-")[0]));

export const openaiChatRecordings = provider("openai-chat", {
  operation: openaiChat.operations[0]!,
  base: "/v1",
  mine: (exchange) => !owners.has(ownerOf(exchange)),
});

function asked(body: Json): Asked {
  const messages = body["messages"] as Json[];
  const lastUser = messages.findLast(({ role }) => role === "user");
  const system = messages.filter(({ role }) => role === "system" || role === "developer");
  return {
    model: body["model"] as string,
    lastUserText: lastUser && textOf(lastUser["content"]),
    systemText: system.map(({ content }) => textOf(content)).join("\n"),
    toolNames: ((body["tools"] ?? []) as { function?: { name: string } }[]).flatMap(
      (tool) => tool.function?.name ?? [],
    ),
    toolResults: messages
      .filter(({ role }) => role === "tool")
      .map(({ tool_call_id: id, content }) => [id as string, textOf(content)]),
  };
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return (content ?? "") as string;
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

function ask({ url, key, reply }: Source, base: string) {
  const client = new OpenAI({
    baseURL: url + base,
    apiKey: "none",
    maxRetries: 0,
    defaultHeaders: { [KEY_HEADER]: key },
  });
  const n = reply.choices.length > 1 ? { n: reply.choices.length } : {};
  return { client, body: { model: "any", messages: [{ role: "user" as const, content: "any" }], ...n } };
}

/** A stream has its usage if the request asks for it. */
function usageOf({ reply }: Source) {
  return reply.usage === undefined ? {} : { stream_options: { include_usage: true } };
}

async function read(source: Source, base: string): Promise<Seen> {
  const { client, body } = ask(source, base);
  if (!source.streamed) return seen((await client.chat.completions.create(body)) as unknown as Json);
  const stream = client.chat.completions.stream({ ...body, ...usageOf(source) });
  return seen((await stream.finalChatCompletion()) as unknown as Json);
}

async function readEvents(source: Source, base: string): Promise<Seen> {
  const { client, body } = ask(source, base);
  const chunks = await client.chat.completions.create({ ...body, stream: true, ...usageOf(source) });
  let whole: Json = {};
  const choices: Json[] = [];
  for await (const chunk of chunks as AsyncIterable<unknown>) {
    const { choices: pieces, usage, ...rest } = chunk as Json;
    whole = { ...whole, ...rest, ...(usage != null && { usage }) };
    for (const piece of (pieces ?? []) as Json[]) addPiece(choices, piece);
  }
  return seen({ ...whole, choices });
}

function addPiece(choices: Json[], { index, delta, finish_reason, logprobs: _, ...rest }: Json): void {
  const at = index as number;
  choices[at] ??= {
    index,
    message: { content: "", reasoning_content: "", reasoning: "", thinking: "", tool_calls: [] },
  };
  const choice = choices[at];
  const message = choice["message"] as Json;
  for (const [name, value] of Object.entries({ ...rest, finish_reason })) if (value != null) choice[name] = value;
  const { content, reasoning_content, reasoning, tool_calls: calls, ...others } = (delta ?? {}) as Json;
  message["content"] += textIn(content, "text");
  message["reasoning_content"] += (reasoning_content ?? "") as string;
  message["reasoning"] += (reasoning ?? "") as string;
  message["thinking"] += textIn(content, "thinking", "");
  for (const [name, value] of Object.entries(others)) if (value != null) message[name] = value;
  ((calls ?? []) as Json[]).forEach((call, position) => {
    addCall(message["tool_calls"] as Json[], call, position);
  });
}

function addCall(calls: Json[], { index, id, type: _, function: given, ...rest }: Json, position: number): void {
  const at = (index as number | undefined) ?? position;
  calls[at] ??= { function: { name: "", arguments: "" } };
  const call = calls[at];
  const called = call["function"] as Json;
  const { name, arguments: text } = (given ?? {}) as Json;
  Object.assign(call, rest, { id: id || (call["id"] ?? id) });
  if (name) called["name"] = name;
  called["arguments"] += (text ?? "") as string;
}

/** Of a content that is a list, as Mistral has it, the parts of one kind; a string is text. */
function textIn(content: unknown, type: "text" | "thinking", ofString = content): string {
  if (!Array.isArray(content)) return (ofString ?? "") as string;
  return (content as Json[])
    .filter((part) => part["type"] === type)
    .map((part) => textOf(part[type]))
    .join("");
}

function seen(completion: Json): Seen {
  const { choices, usage, obfuscation: _, ...rest } = completion;
  const messages = (choices as Json[]).map((choice) => choice["message"] as Json);
  return {
    text: messages.map((message) => [textIn(message["content"], "text"), message["refusal"] ?? ""]),
    reasoning: messages.map(reasoningOf),
    toolCalls: messages.map((message) => ((message["tool_calls"] ?? []) as Json[]).map(calledOf)),
    finish: (choices as Json[]).map((choice) => choice["finish_reason"]),
    usage,
    rest: { ...rest, choices: (choices as Json[]).map(restOfChoice) },
  };
}

/** By the place where the provider has it. */
function reasoningOf({ content, reasoning_content, reasoning, thinking }: Json): Json {
  const places = { reasoning_content, reasoning, thinking: thinking || textIn(content, "thinking", "") };
  return Object.fromEntries(Object.entries(places).filter(([, text]) => text != null && text !== ""));
}

/** Some providers leave the arguments of a call without any away, others send an empty text. */
function calledOf({ id, function: called, custom }: Json): unknown[] {
  return [id, called && { arguments: "", ...(called as Json) }, custom];
}

function restOfChoice({ message, finish_reason: _, ...choice }: Json): Json {
  const {
    content: _c,
    refusal: _r,
    reasoning_content: _rc,
    reasoning: _re,
    thinking: _th,
    tool_calls: calls,
    ...rest
  } = message as Json;
  const others = ((calls ?? []) as Json[]).map(
    ({ id: _i, function: _f, custom: _cu, type: _t, index: _n, ...own }) => own,
  );
  return { ...choice, message: { ...rest, tool_calls: others } };
}
