import { type ChatReply, type Finish, finishOf, joinedText, partsOf } from "../../chat/reply.ts";
import { ANTHROPIC, encodeBlocks, members } from "../anthropic-blocks/response.ts";
import type { EncodeContext } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { tokenCounts } from "../token-counts.ts";

/**
 * Encodes the unary reply.
 * @see https://docs.claude.com/en/api/messages
 */
export function encodeMessage(reply: ChatReply, context: EncodeContext): JsonObject {
  return {
    ...messageHead(reply, context),
    content: encodeBlocks(reply, context).map((block) => block.value),
    ...encodeStop(reply),
    usage: encodeUsage(reply, context),
    ...ownMembers(reply),
  };
}

/** What begins a message, unary and streamed. */
export function messageHead({ envelope }: ChatReply, context: EncodeContext): JsonObject {
  return {
    id: envelope?.id ?? context.id("msg_"),
    type: "message",
    role: envelope?.role ?? "assistant",
    model: envelope?.model ?? context.model,
  };
}

/** Members of the message that only this dialect has: `container`, `context_management` … */
export function ownMembers(reply: ChatReply): JsonObject {
  return { ...members(reply.envelope?.native), ...members(reply.choices[0]?.native) };
}

/** How the message ended. */
export function encodeStop(reply: ChatReply): JsonObject {
  const [choice] = reply.choices;
  const explanation = joinedText(partsOf(reply), "refusal");
  return {
    stop_reason: choice === undefined ? "end_turn" : stopReason(finishOf(choice)),
    stop_sequence: choice?.finish.stopSequence ?? null,
    stop_details: explanation ? { type: "refusal", category: null, explanation } : null,
  };
}

/** @see https://docs.claude.com/en/api/handling-stop-reasons */
function stopReason(finish: Finish): string {
  if (finish.native?.dialect === ANTHROPIC) return finish.native.value;
  if (finish.stopSequence !== undefined) return "stop_sequence";
  switch (finish.reason) {
    case "stop":
      return "end_turn";
    case "tool_calls":
      return "tool_use";
    case "length":
      return "max_tokens";
    case "content_filter":
      return "refusal";
    case "pause":
      return "pause_turn";
    default:
      return finish.reason;
  }
}

/**
 * Usage of the whole message. Here the input tokens are those that no cache held, where the canonical prompt
 * tokens are all of them.
 */
export function encodeUsage(reply: ChatReply, context: EncodeContext): JsonObject {
  const { usage } = reply;
  const own = members(usage?.raw);
  if (own !== undefined) return own;
  const { uncached, completion } = tokenCounts(reply, context);
  const written = usage?.cacheWriteTokens ?? 0;
  const searches = partsOf(reply).filter((part) => part.type === "webSearch").length;
  return {
    input_tokens: uncached,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: usage?.cachedTokens ?? 0,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
    output_tokens: completion,
    ...(usage?.reasoningTokens !== undefined && { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
    ...(searches > 0 && { server_tool_use: { web_search_requests: searches, web_fetch_requests: 0 } }),
    service_tier: reply.envelope?.serviceTier ?? "standard",
  };
}
