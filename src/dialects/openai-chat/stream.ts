import { type ChatReply, type Choice, wantedChoices } from "../../chat/reply.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import {
  annotationsOf,
  type ChatVariant,
  encodeAudio,
  encodeToolCall,
  encodeUsage,
  envelope,
  finishReason,
  logprobsOf,
  nativeChoice,
  tail,
} from "./response.ts";

/**
 * Encodes the streamed reply: a chunk with the role, the parts in their order, the finish reason, the usage if
 * it was asked for, and `[DONE]`.
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
export function encodeChatStream(reply: ChatReply, context: EncodeContext<ChatVariant>): WireEvent[] {
  const head = envelope(reply, context, "chat.completion.chunk");
  const end = tail(reply);
  const usage = context.variant.usage ? { usage: null } : undefined;
  const events: WireEvent[] = [];
  const send = (choices: JsonObject[], more: JsonObject | undefined = usage): void => {
    events.push({ data: { ...head, choices, ...more, ...end } });
  };
  wantedChoices(reply, context.variant.choices).forEach((choice, index) => {
    const native = nativeChoice(choice);
    const delta = (value: JsonObject, logprobs: unknown = null): void => {
      send([{ index, delta: value, logprobs, finish_reason: null }]);
    };
    delta({ role: reply.envelope?.role ?? "assistant", content: firstContent(choice), refusal: null });
    streamParts(choice, context, delta);
    const audio = encodeAudio(choice, context);
    if (audio !== undefined) delta({ audio });
    const annotations = annotationsOf(choice);
    if (annotations !== undefined) delta({ annotations });
    if (native.message !== undefined) delta(native.message);
    send([{ index, delta: {}, logprobs: null, finish_reason: finishReason(choice.finish), ...native.choice }]);
  });
  if (usage !== undefined) send([], { usage: encodeUsage(reply, context) });
  events.push({ data: "[DONE]", raw: true, rides: true });
  return events;
}

/** A reply that has no text says so in its first chunk, as the provider does. */
function firstContent(choice: Choice): string | null {
  return choice.parts.some((part) => part.type === "text") || choice.parts.length === 0 ? "" : null;
}

type Delta = (value: JsonObject, logprobs?: unknown) => void;

function streamParts(choice: Choice, context: EncodeContext, delta: Delta): void {
  const logprobs = logprobsOf(choice);
  let calls = 0;
  for (const part of choice.parts) {
    switch (part.type) {
      case "text":
        streamText(part.text, part.logprobs === logprobs ? logprobs : undefined, context, delta);
        break;
      case "refusal":
        for (const piece of context.pieces(part.text)) delta({ refusal: piece });
        break;
      case "reasoning":
        for (const piece of context.pieces(part.text)) delta({ reasoning_content: piece });
        break;
      case "opaque":
        if (part.dialect === "openai-chat")
          delta({ tool_calls: [{ index: calls++, ...encodeToolCall(part, context) }] });
        break;
      case "toolCall": {
        const index = calls++;
        const call = encodeToolCall(part, context);
        delta({ tool_calls: [{ index, ...call, function: { name: part.name, arguments: "" } }] });
        for (const piece of context.pieces(part.arguments)) {
          delta({ tool_calls: [{ index, function: { arguments: piece } }] });
        }
        break;
      }
      case "media":
      case "webSearch":
        break;
    }
  }
}

/** With log probabilities a chunk holds one token, as long as the tokens are the text. */
function streamText(text: string, logprobs: unknown, context: EncodeContext, delta: Delta): void {
  const tokens = isObject(logprobs) && Array.isArray(logprobs["content"]) ? logprobs["content"] : undefined;
  if (
    tokens?.every((token) => isObject(token) && typeof token["token"] === "string") &&
    tokens.map((token) => token.token).join("") === text
  ) {
    for (const token of tokens) delta({ content: token.token }, { content: [token], refusal: null });
    return;
  }
  let first = true;
  for (const piece of context.pieces(text)) {
    delta({ content: piece }, first ? (logprobs ?? null) : null);
    first = false;
  }
}
