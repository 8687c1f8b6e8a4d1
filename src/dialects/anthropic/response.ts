import { parseArguments } from "../../chat/arguments.ts";
import {
  type ChatReply,
  type Choice,
  type Finish,
  type Native,
  nativeMembers,
  nativeOf,
  type Part,
  type ReasoningPart,
  reasoningText,
  type ToolCallPart,
} from "../../chat/reply.ts";
import type { EncodeContext } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import { tokenCounts } from "../token-counts.ts";

export const ANTHROPIC = "anthropic";

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
  return { ...members(reply.envelope?.native), ...members(choiceOf(reply)?.native) };
}

function members(native: Native | undefined): JsonObject | undefined {
  return nativeMembers(native, ANTHROPIC);
}

/** The provider gives one choice; of a reply with several it is the first. */
function choiceOf(reply: ChatReply): Choice | undefined {
  return reply.choices[0];
}

/** A content block, whole. */
export interface Block {
  value: JsonObject;
  /** The JSON text of its `input` as it is streamed. */
  input?: string;
}

export function encodeBlocks(reply: ChatReply, context: EncodeContext): Block[] {
  return (choiceOf(reply)?.parts ?? []).flatMap((part) => encodePart(part, context));
}

function encodePart(part: Part, context: EncodeContext): Block[] {
  switch (part.type) {
    case "text": {
      const citations = nativeOf(part.annotations, ANTHROPIC);
      return [{ value: { type: "text", text: part.text, ...(citations !== undefined && { citations }) } }];
    }
    case "reasoning":
      return encodeReasoning(part);
    case "toolCall":
      return [encodeToolUse(part, context)];
    case "webSearch": {
      const id = context.id("srvtoolu_");
      const input = { query: part.query };
      return [
        inputBlock({ type: "server_tool_use", id, name: "web_search", input, caller: DIRECT }),
        { value: { type: "web_search_tool_result", tool_use_id: id, content: [], caller: DIRECT } },
      ];
    }
    case "opaque": {
      const { dialect, value } = part;
      if (dialect !== ANTHROPIC || !isObject(value)) return [];
      return [isObject(value["input"]) ? inputBlock(value) : { value }];
    }
    // The text of a refusal is in `stop_details`; media this API does not send.
    case "refusal":
    case "media":
      return [];
  }
}

const DIRECT = { type: "direct" };

function inputBlock(value: JsonObject): Block {
  return { value, input: JSON.stringify(value["input"]) };
}

function encodeReasoning(part: ReasoningPart): Block[] {
  if (part.redacted !== undefined) return [{ value: { type: "redacted_thinking", data: part.redacted } }];
  const thinking = reasoningText(part);
  if (thinking === undefined) return [];
  return [{ value: { type: "thinking", thinking, signature: part.signature ?? "", ...members(part.native) } }];
}

function encodeToolUse(part: ToolCallPart, context: EncodeContext): Block {
  const value = {
    type: "tool_use",
    id: part.id ?? context.id("toolu_"),
    name: part.name,
    input: parseArguments(part.arguments),
    caller: DIRECT,
    ...members(part.native),
  };
  return { value, input: part.arguments };
}

/** How the message ended. */
export function encodeStop(reply: ChatReply): JsonObject {
  const choice = choiceOf(reply);
  const refusals = choice?.parts.filter((part) => part.type === "refusal") ?? [];
  const refused = refusals.length > 0 && choice?.finish.reason === "stop";
  const explanation = refusals.map((part) => part.text).join("");
  return {
    stop_reason: choice === undefined ? "end_turn" : stopReason(refused ? { reason: "refusal" } : choice.finish),
    stop_sequence: choice?.finish.stopSequence ?? null,
    stop_details: explanation === "" ? null : { type: "refusal", category: null, explanation },
  };
}

/** @see https://docs.claude.com/en/api/handling-stop-reasons */
export function stopReason(finish: Finish): string {
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
  const searches = choiceOf(reply)?.parts.filter((part) => part.type === "webSearch").length ?? 0;
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
