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
import type { ChatRequest } from "../../chat/request.ts";
import { estimateCompletionTokens, estimatePromptTokens } from "../../chat/tokens.ts";
import type { EncodeContext } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

export const OPENAI_CHAT = "openai-chat";

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
export function encodeChatResponse(reply: ChatReply, context: EncodeContext<ChatVariant>): JsonObject {
  return {
    ...envelope(reply, context, "chat.completion"),
    choices: wantedChoices(reply, context.variant.choices).map((choice, index) => encodeChoice(choice, index, reply, context)),
    usage: encodeUsage(reply, context),
    ...tail(reply),
  };
}

function encodeChoice(choice: Choice, index: number, reply: ChatReply, context: EncodeContext): JsonObject {
  const text = joined(choice, "text");
  const refusal = joined(choice, "refusal");
  const reasoning = joined(choice, "reasoning");
  const calls = toolCalls(choice).map((call) => encodeToolCall(call, context));
  const message: JsonObject = { role: reply.envelope?.role ?? "assistant", content: text ?? null, refusal: refusal ?? null };
  if (reasoning !== undefined) message["reasoning_content"] = reasoning;
  if (calls.length > 0) message["tool_calls"] = calls;
  const audio = encodeAudio(choice, context);
  if (audio !== undefined) message["audio"] = audio;
  const annotations = annotationsOf(choice);
  if (annotations !== undefined) message["annotations"] = annotations;
  const native = nativeChoice(choice);
  return {
    index,
    message: { ...message, ...native.message },
    logprobs: logprobsOf(choice) ?? null,
    finish_reason: finishReason(choice.finish),
    ...native.choice,
  };
}

/** Members at the head of every object, unary and streamed. */
export function envelope(reply: ChatReply, context: EncodeContext, object: string): JsonObject {
  const { envelope: given } = reply;
  return {
    id: given?.id ?? context.id("chatcmpl-"),
    object,
    created: given?.created ?? context.created,
    model: given?.model ?? context.model,
  };
}

/** Members at the end of every object, there when they were written or recorded. */
export function tail(reply: ChatReply): JsonObject {
  const { serviceTier, systemFingerprint, native } = reply.envelope ?? {};
  const members: JsonObject = {};
  if (serviceTier !== undefined) members["service_tier"] = serviceTier;
  if (systemFingerprint !== undefined) members["system_fingerprint"] = systemFingerprint;
  const own = nativeOf(native, OPENAI_CHAT);
  return isObject(own) ? { ...members, ...own } : members;
}

/** The parts of one kind put together, or undefined if there is none. */
export function joined(choice: Choice, type: "text" | "refusal" | "reasoning"): string | undefined {
  let text: string | undefined;
  for (const part of choice.parts) if (part.type === type) text = (text ?? "") + part.text;
  return text;
}

export function toolCalls(choice: Choice): (ToolCallPart | OpaquePart)[] {
  return choice.parts.filter(
    (part): part is ToolCallPart | OpaquePart =>
      part.type === "toolCall" || (part.type === "opaque" && part.dialect === OPENAI_CHAT),
  );
}

export function encodeToolCall(call: ToolCallPart | OpaquePart, context: EncodeContext): JsonObject {
  if (call.type === "opaque") return isObject(call.value) ? call.value : {};
  const own = nativeOf(call.native, OPENAI_CHAT);
  return {
    id: call.id ?? context.id("call_"),
    type: "function",
    function: { name: call.name, arguments: call.arguments },
    ...(isObject(own) ? own : undefined),
  };
}

/** @see https://platform.openai.com/docs/guides/audio */
export function encodeAudio(choice: Choice, context: EncodeContext): JsonObject | undefined {
  const part = choice.parts.find((candidate) => candidate.type === "media" && candidate.mime.startsWith("audio/"));
  if (part?.type !== "media") return undefined;
  const own = nativeOf(part.native, OPENAI_CHAT);
  return {
    id: context.id("audio_"),
    data: part.data ?? "",
    expires_at: context.created,
    transcript: part.transcript ?? choiceText(choice),
    ...(isObject(own) ? own : undefined),
  };
}

export function annotationsOf(choice: Choice): unknown {
  for (const part of choice.parts) {
    if (part.type !== "text") continue;
    const own = nativeOf(part.annotations, OPENAI_CHAT);
    if (own !== undefined) return own;
  }
  return undefined;
}

export function logprobsOf(choice: Choice): unknown {
  for (const part of choice.parts) if (part.type === "text" && part.logprobs !== undefined) return part.logprobs;
  return undefined;
}

/** Members that were recorded beside those above: `{ choice: {…}, message: {…} }`. */
export function nativeChoice(choice: Choice): { choice?: JsonObject; message?: JsonObject } {
  const own = nativeOf(choice.native, OPENAI_CHAT);
  if (!isObject(own)) return {};
  const { choice: ofChoice, message } = own;
  return { ...(isObject(ofChoice) && { choice: ofChoice }), ...(isObject(message) && { message }) };
}

export function finishReason(finish: Finish): string {
  if (finish.native?.dialect === OPENAI_CHAT) return finish.native.value;
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
export function encodeUsage(reply: ChatReply, context: EncodeContext): unknown {
  const { usage } = reply;
  const own = nativeOf(usage?.raw, OPENAI_CHAT);
  if (own !== undefined) return own;
  const completion = usage?.completionTokens ?? estimateCompletionTokens(reply);
  const prompt = usage?.promptTokens;
  const encoded: JsonObject = {
    prompt_tokens: prompt ?? context.echo((call) => estimatePromptTokens(call.request as ChatRequest)),
    completion_tokens: completion,
    total_tokens:
      usage?.totalTokens ??
      (prompt !== undefined
        ? prompt + completion
        : context.echo((call) => estimatePromptTokens(call.request as ChatRequest) + completion)),
  };
  if (usage?.cachedTokens !== undefined) encoded["prompt_tokens_details"] = { cached_tokens: usage.cachedTokens };
  if (usage?.reasoningTokens !== undefined) {
    encoded["completion_tokens_details"] = { reasoning_tokens: usage.reasoningTokens };
  }
  return encoded;
}
