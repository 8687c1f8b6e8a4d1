import {
  type ChatReply,
  type Finish,
  type Native,
  nativeMembers,
  nativeOf,
  type Part,
  partsOf,
  type ReasoningPart,
  reasoningText,
  type TextPart,
} from "../../chat/reply.ts";
import type { EncodeContext } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import { tokenCounts } from "../token-counts.ts";

export const COHERE = "cohere";

/**
 * Encodes the unary reply.
 * @see https://docs.cohere.com/v2/reference/chat
 */
export function encodeCohere(reply: ChatReply, context: EncodeContext): JsonObject {
  const id = idOf(reply, context);
  const content: JsonObject[] = [];
  const calls: JsonObject[] = [];
  const citations: unknown[] = [];
  let plan: string | undefined;
  for (const part of partsOf(reply)) {
    if (isPlan(part)) plan = (plan ?? "") + part.text;
    else if (part.type === "toolCall") calls.push(encodeToolCall(part, context));
    else {
      const block = encodeContent(part);
      if (block !== undefined) content.push(block);
      if (part.type === "text") citations.push(...citationsOf(part));
    }
  }
  return {
    id,
    message: {
      role: reply.envelope?.role ?? "assistant",
      ...(plan !== undefined && { tool_plan: plan }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(content.length > 0 && { content }),
      ...(citations.length > 0 && { citations }),
    },
    finish_reason: finishReason(reply),
    usage: encodeUsage(reply, context),
    ...members(reply.envelope?.native),
  };
}

export function idOf(reply: ChatReply, context: EncodeContext): string {
  return reply.envelope?.id ?? context.id("");
}

/** What the model means to do with its tools is no part of the content. */
export function isPlan(part: Part): part is ReasoningPart {
  return part.type === "reasoning" && members(part.native)["type"] === "tool_plan";
}

/** A part of the content, or undefined for what has no place here. */
export function encodeContent(part: Part): JsonObject | undefined {
  switch (part.type) {
    case "text":
    case "refusal":
      return { type: "text", text: part.text };
    case "reasoning": {
      const thinking = reasoningText(part);
      return thinking ? { type: "thinking", thinking } : undefined;
    }
    case "opaque":
      return part.dialect === COHERE && isObject(part.value) ? part.value : undefined;
    default:
      return undefined;
  }
}

export function citationsOf(part: TextPart): unknown[] {
  const own = nativeOf(part.annotations, COHERE);
  return Array.isArray(own) ? own : [];
}

export function encodeToolCall(part: Part & { type: "toolCall" }, context: EncodeContext): JsonObject {
  return {
    id: part.id ?? context.id(`${part.name}_`),
    type: "function",
    function: { name: part.name, arguments: part.arguments },
  };
}

export function members(native: Native | undefined): JsonObject {
  return nativeMembers(native, COHERE) ?? {};
}

export function finishReason(reply: ChatReply): string {
  const finish: Finish = reply.choices[0]?.finish ?? { reason: "stop" };
  if (finish.native?.dialect === COHERE) return finish.native.value;
  if (finish.stopSequence !== undefined) return "STOP_SEQUENCE";
  switch (finish.reason) {
    case "length":
      return "MAX_TOKENS";
    case "tool_calls":
      return "TOOL_CALL";
    case "content_filter":
    case "error":
      return "ERROR";
    default:
      return "COMPLETE";
  }
}

export function encodeUsage(reply: ChatReply, context: EncodeContext): JsonObject {
  const { usage } = reply;
  const own = nativeMembers(usage?.raw, COHERE);
  if (own !== undefined) return own;
  const { prompt, completion } = tokenCounts(reply, context);
  const tokens = { input_tokens: prompt, output_tokens: completion };
  return {
    billed_units: tokens,
    tokens,
    ...(usage?.cachedTokens !== undefined && { cached_tokens: usage.cachedTokens }),
  };
}
