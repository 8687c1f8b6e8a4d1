import { type ChatReply, choiceText, wantedChoices } from "../../chat/reply.ts";
import { encodeUsage, tail } from "../openai-chat/response.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import { type CompletionVariant, completionChoice, completionHead } from "./response.ts";

/** @see https://platform.openai.com/docs/api-reference/completions/create#completions-create-stream */
export function encodeCompletionStream(reply: ChatReply, context: EncodeContext<CompletionVariant>): WireEvent[] {
  const head = completionHead(reply, context);
  const end = tail(reply, context);
  const usage = context.variant.usage ? { usage: null } : undefined;
  const events: WireEvent[] = [];
  wantedChoices(reply, context.variant.choices).forEach((choice, index) => {
    for (const piece of context.pieces(choiceText(choice))) {
      events.push({ data: { ...head, choices: [completionChoice(piece, index)], ...usage, ...end } });
    }
    events.push({ data: { ...head, choices: [completionChoice("", index, choice)], ...usage, ...end } });
  });
  if (usage !== undefined) events.push({ data: { ...head, choices: [], usage: encodeUsage(reply, context), ...end } });
  events.push({ data: "[DONE]", raw: true, rides: true });
  return events;
}
