import type { ChatReply } from "../../chat/reply.ts";
import { encodeBlocks } from "../anthropic-blocks/response.ts";
import { event, PING, streamBlock } from "../anthropic-blocks/stream.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { encodeStop, encodeUsage, messageHead, ownMembers } from "./response.ts";

/** Of the message, what is told at its end: beside `stop_reason` and the usage … */
const IN_DELTA = ["stop_reason", "stop_sequence", "stop_details", "container"];
const BESIDE_DELTA = ["context_management"];
/** Of the usage, what is known at its end only, and what is told at its start only. */
const USAGE_AT_END = ["output_tokens_details", "server_tool_use", "iterations"];
const USAGE_AT_START = ["cache_creation", "service_tier", "inference_geo", "speed"];

/**
 * Encodes the streamed reply.
 * @see https://docs.claude.com/en/docs/build-with-claude/streaming
 */
export function encodeMessageStream(reply: ChatReply, context: EncodeContext): WireEvent[] {
  const head = messageHead(reply, context);
  const blocks = encodeBlocks(reply, context);
  const stop = encodeStop(reply);
  const usage = encodeUsage(reply, context);
  const native = ownMembers(reply);

  const message = {
    ...head,
    content: [],
    ...Object.fromEntries(Object.keys(stop).map((name) => [name, null])),
    usage: usageAtStart(usage),
    ...without(native, [...IN_DELTA, ...BESIDE_DELTA]),
  };
  const events = [event("message_start", { message })];
  if (blocks.length === 0) events.push(PING);
  blocks.forEach((block, index) => {
    streamBlock(block, index, context, events);
  });
  events.push(
    event("message_delta", {
      delta: { ...stop, ...only(native, IN_DELTA) },
      usage: without(usage, USAGE_AT_START),
      ...only(native, BESIDE_DELTA),
    }),
    event("message_stop", {}),
  );
  return events;
}

/** The provider counts a first token or two before it has written anything. */
function usageAtStart(usage: JsonObject): JsonObject {
  const started = without(usage, USAGE_AT_END);
  const output = started["output_tokens"];
  if (typeof output === "number") started["output_tokens"] = Math.min(1, output);
  return started;
}

function without(members: JsonObject, names: string[]): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}

function only(members: JsonObject, names: string[]): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([name]) => names.includes(name)));
}
