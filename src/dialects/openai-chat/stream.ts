import type { ChatReply, Choice } from "../../chat/reply.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import { type ChatFlavour, OPENAI } from "./flavour.ts";
import {
  annotationsOf,
  type ChatVariant,
  encodeAudio,
  encodeFinish,
  encodeToolCall,
  encodeUsage,
  envelope,
  logprobsOf,
  nativeChoice,
  shownChoices,
  tail,
  thinkingPart,
} from "./response.ts";

/**
 * Encodes the streamed reply: a chunk with the role, the parts in their order, the finish reason, the usage, and
 * `[DONE]`.
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
export function encodeChatStream(
  reply: ChatReply,
  context: EncodeContext<ChatVariant>,
  flavour: ChatFlavour = OPENAI,
): WireEvent[] {
  const head = envelope(reply, context, "chat.completion.chunk", flavour);
  const { x_groq: groq, ...end } = tail(reply, context, flavour, true);
  const { emptyChoice, streamUsage } = flavour;
  const asked = context.variant.usage && (streamUsage === "asked" || streamUsage === "x_groq");
  const usage = encodeUsage(reply, context, flavour);
  const role = reply.envelope?.role ?? "assistant";
  const events: WireEvent[] = [];
  if (reply.envelope?.keepAlive && flavour.keepAlive !== undefined) {
    events.push({ comment: flavour.keepAlive, data: undefined });
  }
  const send = (choices: JsonObject[], more: JsonObject | undefined = asked ? { usage: null } : undefined): void => {
    events.push({ data: { ...head, choices, ...more, ...end } });
  };
  const choices = shownChoices(reply, context, flavour);
  choices.forEach((choice, index) => {
    const native = nativeChoice(choice, flavour);
    const delta = (value: JsonObject, members?: JsonObject): void => {
      send([{ index, delta: value, ...emptyChoice, finish_reason: null, ...members }]);
    };
    delta({ role, content: firstContent(choice), ...flavour.emptyDelta });
    streamParts(choice, context, flavour, delta);
    const audio = encodeAudio(choice, context, flavour);
    if (audio !== undefined) delta({ audio });
    const annotations = annotationsOf(choice, flavour);
    if (annotations !== undefined) delta({ annotations });
    if (native.message !== undefined) delta(native.message);
    const last = index === choices.length - 1;
    const finish = { ...emptyChoice, ...encodeFinish(choice, flavour), ...native.choice };
    send([{ index, delta: {}, ...finish }], last && streamUsage === "finish" ? { usage } : undefined);
    // The finish is told again with the usage.
    if (last && streamUsage === "repeated") send([{ index, delta: { role, content: "" }, ...finish }], { usage });
  });
  if (groq !== undefined) addGroq(events, groq, usage);
  if (asked) send([], { usage });
  events.push({ data: "[DONE]", raw: true, rides: true });
  return events;
}

/** Groq's own member, in the first chunk and, with the usage, in the last. */
function addGroq(events: WireEvent[], given: unknown, usage: unknown): void {
  const { usage: _, ...groq } = given as JsonObject;
  const [first] = events;
  const last = events.at(-1);
  if (first === undefined || last === undefined) return;
  first.data = { ...(first.data as JsonObject), x_groq: groq };
  last.data = { ...(last.data as JsonObject), x_groq: { ...groq, usage } };
}

/** A reply that has no text says so in its first chunk, as the provider does. */
function firstContent(choice: Choice): string | null {
  return choice.parts.some((part) => part.type === "text") || choice.parts.length === 0 ? "" : null;
}

type Delta = (value: JsonObject, members?: JsonObject) => void;

function streamParts(choice: Choice, context: EncodeContext, flavour: ChatFlavour, delta: Delta): void {
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
        for (const piece of context.pieces(part.text)) {
          delta(
            flavour.reasoning === "thinking parts"
              ? { content: [thinkingPart(piece)] }
              : { [flavour.reasoning]: piece },
          );
        }
        break;
      case "opaque":
        if (part.dialect === flavour.dialect) {
          delta({ tool_calls: [{ index: calls++, ...encodeToolCall(part, context, flavour) }] });
        }
        break;
      case "toolCall": {
        const index = calls++;
        const call = encodeToolCall(part, context, flavour);
        if (flavour.wholeCalls) {
          delta({ tool_calls: [{ index, ...call }] });
          break;
        }
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
    for (const token of tokens) delta({ content: token.token }, { logprobs: { content: [token], refusal: null } });
    return;
  }
  let first = true;
  for (const piece of context.pieces(text)) {
    delta({ content: piece }, first && logprobs !== undefined ? { logprobs } : undefined);
    first = false;
  }
}
