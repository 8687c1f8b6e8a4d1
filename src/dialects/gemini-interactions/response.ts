import type { ChatReply, Finish } from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { encodeSteps, GEMINI_INTERACTIONS, members } from "../gemini-steps/response.ts";
import type { EncodeContext } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { tokenCounts } from "../token-counts.ts";

export interface InteractionVariant extends Record<string, unknown> {
  /** An agent was asked, not a model. */
  agent: boolean;
  /** Only what is stored has an id. */
  stored: boolean;
  /** It goes on from an interaction before. */
  continues: boolean;
  /** It has been started, and is fetched later. */
  background: boolean;
  /** Its stream can be taken up again, so that its events have ids. */
  resumable: boolean;
}

/**
 * Encodes the unary reply.
 * @see https://ai.google.dev/api/interactions-api
 */
export function encodeInteraction(reply: ChatReply, context: EncodeContext<InteractionVariant>): JsonObject {
  const { background } = context.variant;
  const id = interactionId(reply, context);
  const steps = background ? undefined : encodeSteps(reply, context).map((step) => step.value);
  return {
    id,
    status: background ? "in_progress" : statusOf(reply),
    ...(!background && { usage: encodeUsage(reply, context) }),
    ...tail(reply, context),
    ...(steps && { steps }),
    ...identity(reply, context),
  };
}

export function interactionId({ envelope }: ChatReply, context: EncodeContext<InteractionVariant>): string {
  return context.variant.stored ? (envelope?.id ?? context.id("v1_")) : "";
}

/** What every interaction says of itself. */
export function identity({ envelope }: ChatReply, context: EncodeContext<InteractionVariant>): JsonObject {
  const name = envelope?.model ?? context.model;
  const agent = members(envelope?.native)?.["agent"] ?? (context.variant.agent ? name : undefined);
  return { object: "interaction", ...(agent === undefined ? { model: name } : { agent }) };
}

/** What is told once, when the interaction is there. */
export function tail({ envelope, choices }: ChatReply, context: EncodeContext<InteractionVariant>): JsonObject {
  const created =
    envelope?.created === undefined ? context.createdIso : new Date(envelope.created * 1000).toISOString();
  return {
    created,
    updated: created,
    service_tier: envelope?.serviceTier ?? "standard",
    ...members(envelope?.native),
    ...members(choices[0]?.native),
    ...(context.variant.continues && {
      previous_interaction_id: context.echo((call) => (call.request as ChatRequest)["previous_interaction_id"]),
    }),
  };
}

export function statusOf({ choices }: ChatReply): string {
  return choices[0] === undefined ? "completed" : statusWord(choices[0].finish);
}

function statusWord({ native, reason }: Finish): string {
  if (native?.dialect === GEMINI_INTERACTIONS) return native.value;
  switch (reason) {
    case "stop":
    case "refusal":
      return "completed";
    case "tool_calls":
      return "requires_action";
    case "length":
      return "incomplete";
    case "pause":
      return "requires_continuation";
    case "content_filter":
    case "error":
      return "failed";
    default:
      return reason;
  }
}

/** Thoughts and what tools have read are counted beside the input and the output. */
export function encodeUsage(reply: ChatReply, context: EncodeContext): JsonObject {
  const { usage } = reply;
  const own = members(usage?.raw);
  if (own !== undefined) return own;
  const { prompt, completion, total } = tokenCounts(reply, context);
  const thought = usage?.reasoningTokens ?? 0;
  return {
    total_tokens: total,
    total_input_tokens: prompt,
    input_tokens_by_modality: [{ modality: "text", tokens: prompt }],
    total_cached_tokens: usage?.cachedTokens ?? 0,
    total_output_tokens: Math.max(0, completion - thought),
    total_tool_use_tokens: 0,
    total_thought_tokens: thought,
  };
}
