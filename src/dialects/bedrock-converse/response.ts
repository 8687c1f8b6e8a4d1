import { parseArguments } from "../../chat/arguments.ts";
import {
  type ChatReply,
  type Choice,
  finishOf,
  type Native,
  nativeMembers,
  nativeOf,
  type Part,
  partsOf,
  type ReasoningPart,
  reasoningText,
} from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { ContentBlock } from "../content-block.ts";
import type { EncodeContext } from "../operation.ts";
import { withValue } from "../paths.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import { tokenCounts } from "../token-counts.ts";

export const BEDROCK_CONVERSE = "bedrock-converse";

export interface ConverseVariant extends Record<string, unknown> {
  /** Where the caller asks to be told of the stop sequence: JSON pointers, with a space between them. */
  stopAt: string;
  /** Whether the body tells of the tier; where it is a model's own, the head does. */
  tells: boolean;
}

export function converseVariant(request: ChatRequest): ConverseVariant {
  const paths = request["additionalModelResponseFieldPaths"];
  const wanted = Array.isArray(paths) ? paths.filter((path) => /^(\/\w+)*\/stop_sequence$/.test(path)) : [];
  return { stopAt: wanted.join(" "), tells: true };
}

/**
 * Encodes the unary reply.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
export function encodeConverse(reply: ChatReply, context: EncodeContext<ConverseVariant>): JsonObject {
  const fields = responseFields(reply, context);
  return {
    output: {
      message: { role: roleOf(reply), content: encodeBlocks(reply, context).map(({ value }) => value) },
    },
    stopReason: stopReason(reply),
    usage: encodeUsage(reply, context),
    metrics: { latencyMs: LATENCY_MS },
    ...(fields !== undefined && { additionalModelResponseFields: fields }),
    ...ownMembers(reply, context),
  };
}

// Of a model, not of this reply: an answer is the same bytes each time.
export const LATENCY_MS = 100;

export function roleOf(reply: ChatReply): string {
  return reply.envelope?.role ?? "assistant";
}

/** `serviceTier`, and `metrics`, `trace`, `performanceConfig` … as they were recorded. */
export function ownMembers({ envelope }: ChatReply, { variant }: EncodeContext<ConverseVariant>): JsonObject {
  const { additionalModelResponseFields: _, ...others } = members(envelope?.native) ?? {};
  const tier = envelope?.serviceTier;
  return { ...others, ...(variant.tells && typeof tier === "string" && { serviceTier: { type: tier } }) };
}

export function responseFields(reply: ChatReply, context: EncodeContext<ConverseVariant>): unknown {
  const recorded = members(reply.envelope?.native)?.["additionalModelResponseFields"];
  if (recorded !== undefined || context.variant.stopAt === "") return recorded;
  const stop = reply.choices[0]?.finish.stopSequence ?? null;
  let fields: unknown;
  for (const pointer of context.variant.stopAt.split(" ")) {
    fields = withValue(fields, pointer.slice(1).replaceAll("/", "."), stop);
  }
  return fields;
}

function members(native: Native | undefined): JsonObject | undefined {
  return nativeMembers(native, BEDROCK_CONVERSE);
}

export function encodeBlocks(reply: ChatReply, context: EncodeContext): ContentBlock[] {
  return partsOf(reply).flatMap((part) => encodePart(part, context));
}

function encodePart(part: Part, context: EncodeContext): ContentBlock[] {
  switch (part.type) {
    case "text": {
      const citations = nativeOf(part.annotations, BEDROCK_CONVERSE);
      if (!Array.isArray(citations)) return [{ value: { text: part.text } }];
      return [{ value: { citationsContent: { content: [{ text: part.text }], citations } } }];
    }
    case "refusal":
      return [{ value: { text: part.text } }];
    case "reasoning":
      return encodeReasoning(part);
    case "toolCall": {
      const { name, arguments: input } = part;
      const toolUse = {
        toolUseId: part.id ?? context.id("tooluse_"),
        name,
        input: parseArguments(input),
        ...members(part.native),
      };
      // A call without arguments has one empty piece.
      return [{ value: { toolUse }, input: input === "{}" ? "" : input }];
    }
    case "media": {
      const [kind, format] = part.mime.split("/");
      if (kind !== "image" || part.data === undefined) return [];
      return [{ value: { image: { format, source: { bytes: part.data } } } }];
    }
    case "opaque": {
      if (part.dialect !== BEDROCK_CONVERSE || !isObject(part.value)) return [];
      const { toolUse } = part.value;
      return [{ value: part.value, ...(isObject(toolUse) && { input: JSON.stringify(toolUse["input"] ?? {}) }) }];
    }
    case "webSearch":
      return [];
  }
}

function encodeReasoning(part: ReasoningPart): ContentBlock[] {
  const { signature, redacted } = part;
  if (redacted !== undefined) return [{ value: { reasoningContent: { redactedContent: redacted } } }];
  const text = reasoningText(part);
  if (text === undefined) return [];
  return [{ value: { reasoningContent: { reasoningText: { text, ...(signature !== undefined && { signature }) } } } }];
}

export function stopReason({ choices: [choice] }: ChatReply): string {
  return choice === undefined ? "end_turn" : reasonOf(choice);
}

function reasonOf(choice: Choice): string {
  const { native, stopSequence, reason } = finishOf(choice);
  if (native?.dialect === BEDROCK_CONVERSE) return native.value;
  if (stopSequence !== undefined) return "stop_sequence";
  switch (reason) {
    case "stop":
    case "pause":
      return "end_turn";
    case "tool_calls":
      return "tool_use";
    case "length":
      return "max_tokens";
    case "content_filter":
    case "refusal":
      return "content_filtered";
    case "error":
      return "malformed_model_output";
    default:
      return reason;
  }
}

/** Here the input tokens are those that no cache held, where the canonical prompt tokens are all of them. */
export function encodeUsage(reply: ChatReply, context: EncodeContext): JsonObject {
  const { usage } = reply;
  const own = members(usage?.raw);
  if (own !== undefined) return own;
  const { cachedTokens, cacheWriteTokens } = usage ?? {};
  const { uncached, completion, total } = tokenCounts(reply, context);
  return {
    inputTokens: uncached,
    outputTokens: completion,
    totalTokens: total,
    ...(cachedTokens !== undefined && { cacheReadInputTokens: cachedTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteInputTokens: cacheWriteTokens }),
  };
}
