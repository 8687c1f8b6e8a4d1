import OpenAI from "openai";
import { openaiCompatible } from "../../src/dialects/openai-compatible/index.ts";
import { openaiResponses } from "../../src/dialects/openai-responses/index.ts";
import type { Exchange } from "./corpus.ts";
import { type Asked, NOTHING_ASKED, type Seen, type Source, type WildProvider } from "./provider.ts";
import { KEY_HEADER } from "./serve.ts";

type Json = Record<string, unknown>;

export function operation(name: string) {
  const operations = [openaiResponses, ...openaiCompatible].flatMap((dialect) => dialect.operations);
  return operations.find((candidate) => candidate.name === name)!;
}

/** @param base what stands before the path */
function recordings(name: string, base: string, mine: (exchange: Exchange) => boolean): WildProvider {
  return {
    name,
    operation: operation(name),
    claims: (exchange) =>
      mine(exchange) && (exchange.path === undefined ? isResponse(exchange) : exchange.path.endsWith("/responses")),
    starts: (message) => (message as Json | undefined)?.["type"] === "response.created",
    asked,
    read: (source) => {
      const { client, body } = ask(source, base);
      return seenOf(source.streamed ? client.responses.stream(body).finalResponse() : client.responses.create(body));
    },
    readEvents: (source) => {
      const { client, body } = ask(source, base);
      return fromEvents(client.responses.create({ ...body, stream: true }));
    },
    added: ADDED(),
  };
}

const isXai = ({ file }: Exchange): boolean => file.includes("/xai/");

export const responsesRecordings = recordings("openai-responses", "", (exchange) => !isXai(exchange));
export const xaiResponsesRecordings = recordings("xai-responses", "/xai", isXai);

/** Responses that were asked for again, whole or from an event on. */
export const storedResponsesRecordings: WildProvider = {
  name: "openai-responses-get",
  operation: operation("openai-responses-get"),
  claims: ({ path }) => path !== undefined && /\/responses\/resp_\w+$/.test(path),
  asked: () => NOTHING_ASKED,
  read: (source) => {
    const { responses } = ask(source).client;
    if (!source.streamed) return seenOf(responses.retrieve("resp_any"));
    return fromEvents(responses.retrieve("resp_any", { stream: true }));
  },
  readEvents: (source) => fromEvents(ask(source).client.responses.retrieve("resp_any", { stream: true })),
  added: ADDED(),
};

/** Members that responses had not yet when the older ones were recorded, that other providers leave out, or people. */
function ADDED(): string[] {
  const members = ["background", "completed_at", "frequency_penalty", "presence_penalty", "max_tool_calls"];
  const more = ["prompt_cache_key", "safety_identifier", "service_tier", "top_logprobs", "truncation", "store"];
  const shortened = ["parallel_tool_calls", "reasoning", "temperature", "text", "tool_choice", "top_p", "metadata"];
  return [...members, ...more, ...shortened].map((name) => `rest.${name}`);
}

function isResponse({ folder, messages }: Exchange): boolean {
  const first = (messages?.[0] ?? {}) as Json;
  return (
    first["object"] === "response" ||
    first["type"] === "response.created" ||
    (folder === "openai-responses" && first["error"] !== undefined)
  );
}

export function asked(body: Json): Asked {
  const input: Json[] =
    typeof body["input"] === "string" ? [{ role: "user", content: body["input"] }] : (body["input"] as Json[]);
  const ofRole = (...roles: string[]): string[] =>
    input
      .filter(({ role, content }) => roles.includes(role as string) && content !== undefined)
      .map(({ content }) => textOf(content));
  const instructions = body["instructions"] as string | undefined;
  const tools = [body, ...input].flatMap(({ tools: given }) => (given ?? []) as Json[]);
  return {
    model: body["model"] as string,
    lastUserText: ofRole("user").at(-1),
    systemText: [...(instructions ? [instructions] : []), ...ofRole("system", "developer")].join("\n"),
    toolNames: tools.flatMap(({ name }) => (typeof name === "string" ? [name] : [])),
    toolResults: input
      .filter(({ type }) => type === "function_call_output")
      .map(({ call_id: id, output }) => [id as string, textOf(output)]),
  };
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return (content ?? "") as string;
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

export function clientOf({ url, key }: Source, base = ""): OpenAI {
  const defaultHeaders = { [KEY_HEADER]: key };
  return new OpenAI({ baseURL: `${url}${base}/v1`, apiKey: "none", maxRetries: 0, defaultHeaders });
}

/** As it was recorded, since later requests refer to it, but without what keeps its reply for later. */
function ask(source: Source, base?: string) {
  const { stream: _, background: __, ...body } = source.request ?? { model: "any", input: "any" };
  return { client: clientOf(source, base), body };
}

async function seenOf(response: PromiseLike<unknown>): Promise<Seen> {
  return seen((await response) as Json);
}

async function fromEvents(stream: PromiseLike<AsyncIterable<unknown>>): Promise<Seen> {
  let whole: Json = {};
  const output: Json[] = [];
  for await (const event of await stream) {
    const { response, item, output_index: index, type } = event as Json;
    if (response !== undefined) whole = response as Json;
    if (type === "response.output_item.done") output[index as number] = item as Json;
  }
  return seen({ ...whole, output });
}

function seen(response: Json): Seen {
  const { status, incomplete_details, error, usage, output, output_text: _, ...rest } = response;
  const items = (output ?? []) as Json[];
  const ofType = (...types: string[]): Json[] => items.filter(({ type }) => types.includes(type as string));
  return {
    text: ofType("message").map(({ content }) => (content as Json[]).map(({ text, refusal }) => [text, refusal])),
    reasoning: ofType("reasoning").map(({ summary, content, encrypted_content }) => [
      summary,
      content,
      encrypted_content,
    ]),
    toolCalls: ofType("function_call", "custom_tool_call").map((call) => [
      call["call_id"],
      call["name"],
      call["arguments"] ?? call["input"],
    ]),
    finish: [status, incomplete_details, error],
    usage,
    rest: { ...rest, output: items },
  };
}
