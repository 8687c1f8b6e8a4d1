import type { ChatReply } from "../../chat/reply.ts";
import { streamMessage } from "../openai-messages/stream.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { type ChatFlavour, OPENAI } from "./flavour.ts";
import { type ChatVariant, encodeFinish, encodeUsage, envelope, shownChoices, tail } from "./response.ts";

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
    streamMessage(choice, role, context, flavour, (delta, members) => {
      send([{ index, delta, ...emptyChoice, finish_reason: null, ...members }]);
    });
    const last = index === choices.length - 1;
    const finish = { ...emptyChoice, ...encodeFinish(choice, flavour) };
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
