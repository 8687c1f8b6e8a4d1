import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foldFrames } from "../chat/fold.ts";
import { pieces } from "../chat/pieces.ts";
import type { ChatReply, Choice, Part } from "../chat/reply.ts";
import { AwsEventStreamParser, bedrockMessage } from "../wire/aws-event-stream.ts";
import { NdjsonParser } from "../wire/ndjson.ts";
import { SseParser } from "../wire/sse.ts";
import { anthropic } from "./anthropic/index.ts";
import { anthropicRules } from "./anthropic/rules.ts";
import { bedrockConverse } from "./bedrock-converse/index.ts";
import { converseRules } from "./bedrock-converse/rules.ts";
import { cohere } from "./cohere/index.ts";
import { cohereRules } from "./cohere/rules.ts";
import { frame, onWire } from "./encode.ts";
import { gemini } from "./gemini/index.ts";
import { geminiRules } from "./gemini/rules.ts";
import { geminiInteractions } from "./gemini-interactions/index.ts";
import { interactionRules } from "./gemini-interactions/rules.ts";
import { ollama } from "./ollama/index.ts";
import { ollamaRules } from "./ollama/rules.ts";
import { openaiChat } from "./openai-chat/index.ts";
import { openaiCompatible } from "./openai-compatible/index.ts";
import { openaiCompletions } from "./openai-completions/index.ts";
import { completionRules } from "./openai-completions/rules.ts";
import { openaiResponses } from "./openai-responses/index.ts";
import { openaiResponsesRules } from "./openai-responses/rules.ts";
import { openRouter } from "./openrouter/index.ts";
import type { EncodeContext, Framing, Operation } from "./operation.ts";
import type { Rules } from "./rules.ts";
import { Traverser } from "./traverser.ts";

/**
 * A reply that is encoded and read again by the dialect's rules is the reply, whole and streamed, however the
 * bytes are split. A new dialect adds itself here with the parts that its wire has a place for.
 */
interface Case {
  operation: Operation;
  rules: Rules;
  variant: Record<string, unknown>;
  choices: number;
  part: fc.Arbitrary<Part>;
  /** Parts as they are read again. */
  streamed: (parts: Part[]) => Part[];
  whole: (parts: Part[]) => Part[];
  /** `sse` unless given. */
  framing?: Framing;
  /** What of the envelope has no place on the wire. */
  lacks?: ("id" | "model")[];
  /** The finish reason as it is read again. */
  reason?: (choice: Choice) => string;
}

const text = fc.string({ unit: "binary", maxLength: 60 });
const name = fc.stringMatching(/^[a-zA-Z_]{1,20}$/);
const object = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.parse(JSON.stringify(value)));
/** Some providers give all calls the same one. */
const callId = fc.oneof(name, fc.constantFrom("", "call"));
const toolCall = fc
  .record({ id: callId, name, input: object })
  .map(({ id, name, input }): Part => ({ type: "toolCall", id, name, arguments: JSON.stringify(input) }));

function ofKind(type: "text" | "reasoning" | "refusal") {
  return text.filter((value) => value !== "").map((value): Part => ({ type, text: value }));
}

/** Neighbours of one kind that nothing on the wire tells apart. What else they have is that of the last. */
function merged(parts: Part[]): Part[] {
  const result: Part[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if ("text" in part && last?.type === part.type && "text" in last) {
      result[result.length - 1] = { ...last, ...part, text: last.text + part.text } as Part;
    } else {
      result.push(part);
    }
  }
  return result;
}

const ORDER = ["reasoning", "text", "refusal", "toolCall"];
const order = (part: Part): number => ORDER.indexOf(part.type);

const geminiCase: Omit<Case, "variant"> = {
  operation: operationOf(gemini.operations, "gemini-generate"),
  rules: geminiRules,
  choices: 2,
  part: fc.oneof(
    ofKind("text"),
    fc.record({ type: fc.constant("text" as const), text, signature: name }),
    ofKind("reasoning"),
    fc.record({ type: fc.constant("reasoning" as const), text, signature: name }),
    toolCall,
    fc
      .record({ name, input: object, signature: name })
      .map(({ input, ...call }): Part => ({ type: "toolCall", ...call, arguments: JSON.stringify(input) })),
    fc.record({ type: fc.constant("media" as const), mime: fc.constant("image/png"), data: name }),
    fc.record({ type: fc.constant("media" as const), mime: fc.constant("audio/wav"), url: name }),
    object.map((code): Part => ({ type: "opaque", dialect: "gemini", value: { executableCode: code } })),
  ),
  streamed: merged,
  whole: merged,
  // The API has one word for both.
  reason: ({ parts, finish }) =>
    finish.reason === "stop" && parts.some(({ type }) => type === "toolCall") ? "tool_calls" : finish.reason,
};

/** OpenAI's Responses, and xAI's. */
const responsesCase: Omit<Case, "operation" | "variant"> = {
  rules: openaiResponsesRules,
  choices: 1,
  part: fc.oneof(
    ofKind("text"),
    ofKind("refusal"),
    fc.record({ text, citations: fc.array(object, { minLength: 1, maxLength: 3 }) }).map(
      ({ text, citations }): Part => ({
        type: "text",
        text,
        annotations: { dialect: "openai-responses", value: citations },
      }),
    ),
    fc.record({
      type: fc.constant("reasoning" as const),
      text,
      summary: fc.array(text, { maxLength: 3 }),
      encrypted: name,
    }),
    toolCall,
    fc.record({ id: name, name, input: text }).map(
      ({ input, ...call }): Part => ({
        type: "toolCall",
        ...call,
        arguments: input,
        native: { dialect: "openai-responses", value: { type: "custom_tool_call" } },
      }),
    ),
    fc
      .oneof(
        fc.record({ type: fc.constant("code_interpreter_call"), code: text, outputs: fc.array(object) }),
        fc.record({ type: fc.constant("mcp_call"), arguments: text, error: fc.constantFrom(null, "no") }),
        fc.record({ type: fc.constantFrom("web_search_call", "compaction"), action: object, status: name }),
      )
      .map((value): Part => ({ type: "opaque", dialect: "openai-responses", value })),
  ),
  streamed: (parts) => parts.map(bare) as Part[],
  whole: (parts) => parts.map(bare) as Part[],
  reason: ({ parts, finish }) => {
    if (finish.reason === "length") return "length";
    return parts.some(({ type }) => type === "toolCall") ? "tool_calls" : "stop";
  },
};

const REFUSING = new Set(["openai-chat", "openrouter-chat"]);

/** Chat completions, as OpenAI has them and as others do. */
function chatCase(operation: Operation): Case {
  const { rules } = operation;
  if (rules === undefined) throw new Error(`${operation.name} has no rules`);
  // Where thoughts are parts of the content they keep their place among the texts.
  const place = (part: Part): number =>
    operation.name === "mistral-chat" && part.type === "reasoning" ? 1 : order(part);
  return {
    operation,
    rules,
    variant: { choices: 2, usage: true },
    choices: 2,
    // Elsewhere a refusal is a text like any other.
    part: fc.oneof(
      ofKind("text"),
      ofKind("reasoning"),
      ofKind(REFUSING.has(operation.name) ? "refusal" : "text"),
      toolCall,
    ),
    streamed: merged,
    whole: (parts) => merged(parts.toSorted((one, other) => place(one) - place(other))),
  };
}

const cases: Case[] = [
  { ...geminiCase, variant: { candidates: 2, partialArgs: false } },
  { ...geminiCase, variant: { candidates: 2, partialArgs: true } },
  ...[openaiChat, openRouter, ...openaiCompatible]
    // Those that stream in ways of their own.
    .filter(({ name }) => ["openai-chat", "openrouter", "mistral", "groq", "deepseek"].includes(name))
    .map(({ operations }): Case => chatCase(operations[0]!)),
  {
    operation: openaiCompletions.operations[0]!,
    rules: completionRules,
    variant: { choices: 2, usage: true },
    choices: 2,
    part: ofKind("text"),
    streamed: merged,
    whole: merged,
  },
  {
    ...responsesCase,
    operation: operationOf(openaiResponses.operations, "openai-responses"),
    variant: { encrypted: false, custom: "[]", background: false },
  },
  {
    ...responsesCase,
    operation: operationOf(
      openaiCompatible.flatMap(({ operations }) => operations),
      "xai-responses",
    ),
    variant: { encrypted: false, custom: "[]", background: false, reasoningStatus: true },
  },
  {
    operation: operationOf(anthropic.operations, "anthropic-messages"),
    rules: anthropicRules,
    variant: {},
    choices: 1,
    part: fc.oneof(
      ofKind("text"),
      fc.record({ text, citations: fc.array(object, { minLength: 1, maxLength: 3 }) }).map(
        ({ text, citations }): Part => ({
          type: "text",
          text,
          annotations: { dialect: "anthropic", value: citations },
        }),
      ),
      fc.record({ type: fc.constant("reasoning" as const), text, signature: name }),
      fc.record({ type: fc.constant("reasoning" as const), text: fc.constant(""), redacted: name }),
      toolCall,
      fc.record({ id: name, input: object }).map(
        ({ id, input }): Part => ({
          type: "opaque",
          dialect: "anthropic",
          value: { type: "server_tool_use", id, input },
        }),
      ),
      fc.array(object).map(
        (content): Part => ({
          type: "opaque",
          dialect: "anthropic",
          value: { type: "web_search_tool_result", content },
        }),
      ),
    ),
    streamed: (parts) => parts,
    whole: (parts) => parts,
  },
  {
    operation: operationOf(geminiInteractions.operations, "gemini-interactions"),
    rules: interactionRules,
    variant: { agent: false, stored: true, continues: false, background: false },
    choices: 1,
    part: fc.oneof(
      ofKind("text"),
      fc.record({ text: name, citations: fc.array(object, { minLength: 1, maxLength: 3 }) }).map(
        ({ text, citations }): Part => ({
          type: "text",
          text,
          annotations: { dialect: "gemini-interactions", value: citations },
        }),
      ),
      ofKind("reasoning"),
      fc.record({ type: fc.constant("reasoning" as const), text, signature: name }),
      toolCall,
      fc.record({ type: fc.constant("media" as const), mime: fc.constant("image/png"), data: name }),
      fc.record({ id: name, queries: fc.array(fc.string()) }).map(
        ({ id, queries }): Part => ({
          type: "opaque",
          dialect: "gemini-interactions",
          value: { type: "google_search_call", id, arguments: { queries } },
        }),
      ),
    ),
    streamed: (parts) => parts,
    whole: (parts) => parts,
  },
  {
    operation: operationOf(bedrockConverse.operations, "bedrock-converse"),
    rules: converseRules,
    variant: { stopAt: "", tells: true },
    framing: "aws-event-stream",
    lacks: ["id", "model"],
    choices: 1,
    part: fc.oneof(
      ofKind("text"),
      fc.record({ text: name, citations: fc.array(object, { minLength: 1, maxLength: 3 }) }).map(
        ({ text, citations }): Part => ({
          type: "text",
          text,
          annotations: { dialect: "bedrock-converse", value: citations },
        }),
      ),
      ofKind("reasoning"),
      fc.record({ type: fc.constant("reasoning" as const), text, signature: name }),
      fc.record({ type: fc.constant("reasoning" as const), text: fc.constant(""), redacted: name }),
      toolCall,
      fc.record({ type: fc.constant("media" as const), mime: fc.constant("image/png"), data: name }),
      fc.record({ id: name, input: object }).map(
        ({ id, input }): Part => ({
          type: "opaque",
          dialect: "bedrock-converse",
          value: { toolUse: { toolUseId: id, name: "search", type: "server_tool_use", input } },
        }),
      ),
    ),
    streamed: (parts) => parts,
    whole: (parts) => parts,
  },
  {
    operation: operationOf(cohere.operations, "cohere-chat"),
    rules: cohereRules,
    variant: {},
    lacks: ["model"],
    choices: 1,
    part: fc.oneof(ofKind("text"), ofKind("reasoning"), toolCall),
    streamed: (parts) => parts,
    whole: (parts) =>
      parts.toSorted((one, other) => Number(one.type === "toolCall") - Number(other.type === "toolCall")),
  },
  {
    operation: operationOf(ollama.operations, "ollama-chat"),
    rules: ollamaRules,
    variant: {},
    framing: "ndjson",
    lacks: ["id"],
    choices: 1,
    part: fc.oneof(ofKind("text"), ofKind("reasoning"), toolCall),
    streamed: merged,
    whole: (parts) => merged(parts.toSorted((one, other) => order(one) - order(other))),
    // It has one word for a reply that stopped and one that calls tools.
    reason: ({ parts, finish }) => {
      if (finish.reason === "length") return "length";
      return parts.some(({ type }) => type === "toolCall") ? "tool_calls" : "stop";
    },
  },
];

function operationOf(operations: Operation[], wanted: string): Operation {
  const operation = operations.find(({ name }) => name === wanted);
  if (operation === undefined) throw new Error(`there is no operation ${wanted}`);
  return operation;
}

function contextOf(variant: Record<string, unknown>): EncodeContext<Record<string, unknown>> {
  let ids = 0;
  return {
    variant,
    id: (prefix) => `${prefix}${ids++}`,
    created: 1_700_000_000,
    createdIso: "2023-11-14T22:13:20.000Z",
    model: "asked",
    // What is kept of a reply is given with it, and nothing of the request.
    echo: () => null as never,
    pieces: (whole) => pieces(whole, 7),
  };
}

function replies({ choices, part }: Case): fc.Arbitrary<ChatReply> {
  const choice: fc.Arbitrary<Choice> = fc.record({
    parts: fc.array(part, { minLength: 1, maxLength: 6 }),
    finish: fc.record({ reason: fc.constantFrom("stop", "length", "tool_calls") }),
  });
  return fc.record({
    choices: fc.array(choice, { minLength: choices, maxLength: choices }),
    usage: fc.record({ promptTokens: fc.nat(99), completionTokens: fc.nat(99) }),
    envelope: fc.record({ id: name, model: name }),
  });
}

/** What a round trip keeps of a reply. */
function kept(
  reply: ChatReply,
  parts: (parts: Part[]) => Part[] = (same) => same,
  reason: (choice: Choice) => string = ({ finish }) => finish.reason,
  lacks: Case["lacks"] = [],
): unknown {
  return {
    choices: reply.choices.map((choice) => ({ parts: parts(choice.parts).map(bare), reason: reason(choice) })),
    usage: [reply.usage?.promptTokens, reply.usage?.completionTokens],
    envelope: (["id", "model"] as const).filter((name) => !lacks.includes(name)).map((name) => reply.envelope?.[name]),
  };
}

/** Without the members that the dialect's encoder has added (`caller`, ids of items). */
function bare(part: Part): unknown {
  if (part.type === "media" || !("native" in part)) return part;
  const { native, ...rest } = part;
  return rest;
}

function read({ rules, operation }: Case, messages: unknown[]) {
  const reader = new Traverser(rules, operation.dialect);
  for (const message of messages) reader.push(message, 0);
  const reply = reader.finish();
  expect(reader.unknown).toBe(0);
  expect(reader.finished).toBe(true);
  expect(foldFrames(reader.frames)).toEqual(reply);
  return { reply, frames: reader.frames };
}

/** The messages of a stream whose bytes come in two pieces. */
function messages(bytes: Uint8Array, cut: number, framing: Framing): unknown[] {
  const place = cut % (bytes.length + 1);
  const pieces = [bytes.subarray(0, place), bytes.subarray(place)];
  if (framing === "aws-event-stream") {
    const parser = new AwsEventStreamParser();
    return pieces.flatMap((piece) => parser.push(piece)).map(bedrockMessage);
  }
  if (framing === "ndjson") {
    const parser = new NdjsonParser();
    return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()].map((line) => JSON.parse(line));
  }
  const parser = new SseParser();
  const events = [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
  return events.flatMap((event) => ("data" in event && event.data !== "[DONE]" ? [JSON.parse(event.data)] : []));
}

describe.each(cases)("$operation.name", (given) => {
  const { operation, variant } = given;

  test("a whole reply, encoded and read, is the reply", () => {
    fc.assert(
      fc.property(replies(given), (reply) => {
        const body: unknown = JSON.parse(JSON.stringify(operation.encode(reply, contextOf(variant))));
        expect(kept(read(given, [body]).reply, undefined, undefined, given.lacks)).toEqual(
          kept(reply, given.whole, given.reason, given.lacks),
        );
      }),
      { numRuns: 100 },
    );
  });

  test("a streamed reply, encoded and read, is the reply; any split of its bytes gives the same frames", () => {
    fc.assert(
      fc.property(replies(given), fc.nat(), (reply, cut) => {
        const events = operation.encodeStream?.(reply, contextOf(variant)) ?? [];
        const { framing = "sse" } = given;
        const wire = onWire(events.map((event) => frame(event, framing)).join(""), framing);
        const bytes = typeof wire === "string" ? new TextEncoder().encode(wire) : wire;
        const cutUp = read(given, messages(bytes, cut, framing));
        expect(kept(cutUp.reply, undefined, undefined, given.lacks)).toEqual(
          kept(reply, given.streamed, given.reason, given.lacks),
        );
        expect(cutUp.frames).toEqual(read(given, messages(bytes, 0, framing)).frames);
      }),
      { numRuns: 100 },
    );
  });
});
