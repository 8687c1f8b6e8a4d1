import { type ChatReply, type Choice, type Finish, nativeMembers, nativeOf, wantedChoices } from "../../chat/reply.ts";
import { encodeMessage, logprobsOf, nativeChoice } from "../openai-messages/response.ts";
import type { EncodeContext } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import { tokenCounts } from "../token-counts.ts";
import { type ChatFlavour, OPENAI } from "./flavour.ts";

export interface ChatVariant extends Record<string, unknown> {
  /** How many choices were asked for. */
  choices: number;
  /** Whether a stream ends with its usage. */
  usage: boolean;
}

/**
 * Encodes the unary reply.
 * @see https://platform.openai.com/docs/api-reference/chat/object
 */
export function encodeChatResponse(
  reply: ChatReply,
  context: EncodeContext<ChatVariant>,
  flavour: ChatFlavour = OPENAI,
): JsonObject {
  // In the order of the stream, so that both make the same ids.
  const head = envelope(reply, context, "chat.completion", flavour);
  const end = tail(reply, context, flavour);
  const role = reply.envelope?.role ?? "assistant";
  return {
    ...head,
    choices: shownChoices(reply, context, flavour).map((choice, index) =>
      encodeChoice(choice, index, role, context, flavour),
    ),
    usage: encodeUsage(reply, context, flavour),
    ...end,
  };
}

/** As many as were asked for. Where a message has no place for a refusal, it is said like any other text. */
export function shownChoices(
  reply: ChatReply,
  { variant }: EncodeContext<ChatVariant>,
  { emptyMessage }: ChatFlavour,
): Choice[] {
  const choices = wantedChoices(reply, variant.choices);
  if ("refusal" in emptyMessage) return choices;
  return choices.map((choice) => ({
    ...choice,
    parts: choice.parts.map((part) => (part.type === "refusal" ? { type: "text", text: part.text } : part)),
  }));
}

function encodeChoice(
  choice: Choice,
  index: number,
  role: string,
  context: EncodeContext,
  flavour: ChatFlavour,
): JsonObject {
  const logprobs = logprobsOf(choice);
  return {
    index,
    message: encodeMessage(choice, role, context, flavour),
    ...flavour.emptyChoice,
    ...(logprobs !== undefined && { logprobs }),
    ...encodeFinish(choice, flavour),
  };
}

/** How a choice ended and what was recorded of it, in its last piece or whole. */
export function encodeFinish(choice: Choice, flavour: ChatFlavour): JsonObject {
  const finish_reason = finishReason(choice.finish, flavour);
  return { finish_reason, ...flavour.ending?.(choice, finish_reason), ...nativeChoice(choice, flavour).choice };
}

/** Members at the head of every object, unary and streamed. */
export function envelope(
  { envelope: given }: ChatReply,
  context: EncodeContext,
  object: string,
  flavour: ChatFlavour = OPENAI,
): JsonObject {
  return {
    id: given?.id ?? context.id(flavour.idPrefix),
    object,
    created: given?.created ?? context.created,
    model: given?.model ?? context.model,
  };
}

/** Members at the end of every object, there when they were written or recorded, or the provider always has them. */
export function tail(
  reply: ChatReply,
  context: EncodeContext,
  flavour: ChatFlavour = OPENAI,
  streamed = false,
): JsonObject {
  const { serviceTier, systemFingerprint, native } = reply.envelope ?? {};
  const members = flavour.members?.(reply, context, streamed) ?? {};
  if (serviceTier !== undefined) members["service_tier"] = serviceTier;
  if (systemFingerprint !== undefined) members["system_fingerprint"] = systemFingerprint;
  return { ...members, ...nativeMembers(native, flavour.dialect) };
}

export function finishReason(finish: Finish, { dialect }: ChatFlavour = OPENAI): string {
  if (finish.native?.dialect === dialect) return finish.native.value;
  switch (finish.reason) {
    case "refusal":
    case "pause":
    case "error":
      return "stop";
    default:
      return finish.reason;
  }
}

/** @see https://platform.openai.com/docs/api-reference/chat/object#chat/object-usage */
export function encodeUsage(reply: ChatReply, context: EncodeContext, flavour: ChatFlavour = OPENAI): unknown {
  const { usage } = reply;
  const own = nativeOf(usage?.raw, flavour.dialect);
  if (own !== undefined && flavour.usage === undefined) return own;
  const { prompt, completion, total } = tokenCounts(reply, context);
  const encoded: JsonObject = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total };
  if (usage?.cachedTokens !== undefined) encoded["prompt_tokens_details"] = { cached_tokens: usage.cachedTokens };
  if (usage?.reasoningTokens !== undefined) {
    encoded["completion_tokens_details"] = { reasoning_tokens: usage.reasoningTokens };
  }
  return flavour.usage?.(encoded, isObject(own) ? own : undefined) ?? encoded;
}
