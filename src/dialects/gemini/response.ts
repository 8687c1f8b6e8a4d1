import { type ChatReply, type Choice, type Finish, finishOf, joinedText, wantedChoices } from "../../chat/reply.ts";
import { encodePart, GEMINI, members } from "../gemini-parts/response.ts";
import type { PartsVariant } from "../gemini-parts/stream.ts";
import type { EncodeContext } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import { tokenCounts } from "../token-counts.ts";

export interface GeminiVariant extends PartsVariant {
  /** How many candidates were asked for. */
  candidates: number;
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

/** How a candidate ended, and what only its end tells. */
export function encodeEnd(choice: Choice): JsonObject {
  const refusal = joinedText(choice.parts, "refusal");
  const queries = choice.parts.flatMap((part) => (part.type === "webSearch" ? [part.query] : []));
  return {
    finishReason: finishReason(finishOf(choice)),
    ...(refusal !== undefined && { finishMessage: refusal }),
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
