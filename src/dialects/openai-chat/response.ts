import {
  type ChatReply,
  type Choice,
  choiceText,
  type Finish,
  nativeOf,
  type OpaquePart,
  type ToolCallPart,
  wantedChoices,
} from "../../chat/reply.ts";
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
  return {
    ...head,
    choices: shownChoices(reply, context, flavour).map((choice, index) =>
      encodeChoice(choice, index, reply, context, flavour),
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
  reply: ChatReply,
  context: EncodeContext,
  flavour: ChatFlavour,
): JsonObject {
  const refusal = joined(choice, "refusal");
  const reasoning = joined(choice, "reasoning");
  const calls = toolCalls(choice, flavour).map((call) => encodeToolCall(call, context, flavour));
  const message: JsonObject = {
    role: reply.envelope?.role ?? "assistant",
    content: joined(choice, "text") ?? null,
    ...flavour.emptyMessage,
  };
  if (refusal !== undefined) message["refusal"] = refusal;
  if (reasoning !== undefined) {
    if (flavour.reasoning === "thinking parts") message["content"] = contentParts(choice);
    else message[flavour.reasoning] = reasoning;
  }
  if (calls.length > 0) message["tool_calls"] = calls;
  const audio = encodeAudio(choice, context, flavour);
  if (audio !== undefined) message["audio"] = audio;
  const annotations = annotationsOf(choice, flavour);
  if (annotations !== undefined) message["annotations"] = annotations;
  const native = nativeChoice(choice, flavour);
  const logprobs = logprobsOf(choice);
  return {
    index,
    message: { ...message, ...native.message },
    ...flavour.emptyChoice,
    ...(logprobs !== undefined && { logprobs }),
    ...encodeFinish(choice, flavour),
    ...native.choice,
  };
}

/** How a choice ended, in its last piece or whole. */
export function encodeFinish(choice: Choice, flavour: ChatFlavour): JsonObject {
  const finish_reason = finishReason(choice.finish, flavour);
  return { finish_reason, ...flavour.ending?.(choice, finish_reason) };
}

/** Text and thoughts as parts of one content. */
function contentParts(choice: Choice): JsonObject[] {
  return choice.parts.flatMap((part) => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    return part.type === "reasoning" ? [thinkingPart(part.text)] : [];
  });
}

export function thinkingPart(text: string): JsonObject {
  return { type: "thinking", thinking: [{ type: "text", text }] };
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
  const own = nativeOf(native, flavour.dialect);
  return isObject(own) ? { ...members, ...own } : members;
}

/** The parts of one kind put together, or undefined if there is none. */
export function joined(choice: Choice, type: "text" | "refusal" | "reasoning"): string | undefined {
  let text: string | undefined;
  for (const part of choice.parts) if (part.type === type) text = (text ?? "") + part.text;
  return text;
}

export function toolCalls(choice: Choice, { dialect }: ChatFlavour): (ToolCallPart | OpaquePart)[] {
  return choice.parts.filter(
    (part): part is ToolCallPart | OpaquePart =>
      part.type === "toolCall" || (part.type === "opaque" && part.dialect === dialect),
  );
}

export function encodeToolCall(
  call: ToolCallPart | OpaquePart,
  context: EncodeContext,
  { dialect }: ChatFlavour,
): JsonObject {
  if (call.type === "opaque") return isObject(call.value) ? call.value : {};
  const own = nativeOf(call.native, dialect);
  return {
    id: call.id ?? context.id("call_"),
    type: "function",
    function: { name: call.name, arguments: call.arguments },
    ...(isObject(own) ? own : undefined),
  };
}

/** @see https://platform.openai.com/docs/guides/audio */
export function encodeAudio(choice: Choice, context: EncodeContext, { dialect }: ChatFlavour): JsonObject | undefined {
  const part = choice.parts.find((candidate) => candidate.type === "media" && candidate.mime.startsWith("audio/"));
  if (part?.type !== "media") return undefined;
  const own = nativeOf(part.native, dialect);
  return {
    id: context.id("audio_"),
    data: part.data ?? "",
    expires_at: context.created,
    transcript: part.transcript ?? choiceText(choice),
    ...(isObject(own) ? own : undefined),
  };
}

export function annotationsOf(choice: Choice, { dialect }: ChatFlavour): unknown {
  for (const part of choice.parts) {
    if (part.type !== "text") continue;
    const own = nativeOf(part.annotations, dialect);
    if (own !== undefined) return own;
  }
  return undefined;
}

export function logprobsOf(choice: Choice): unknown {
  for (const part of choice.parts) if (part.type === "text" && part.logprobs !== undefined) return part.logprobs;
  return undefined;
}

/** Members that were recorded beside those above: `{ choice: {…}, message: {…} }`. */
export function nativeChoice(choice: Choice, { dialect }: ChatFlavour): { choice?: JsonObject; message?: JsonObject } {
  const own = nativeOf(choice.native, dialect);
  if (!isObject(own)) return {};
  const { choice: ofChoice, message } = own;
  return { ...(isObject(ofChoice) && { choice: ofChoice }), ...(isObject(message) && { message }) };
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
