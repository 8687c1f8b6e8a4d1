import type { ChatReply } from "../../chat/reply.ts";
import { encodeSteps, GEMINI_INTERACTIONS } from "../gemini-steps/response.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { Traverser } from "../traverser.ts";
import { encodeUsage, type InteractionVariant, identity, interactionId, statusOf, tail } from "./response.ts";
import { interactionRules } from "./rules.ts";

/**
 * Encodes the streamed reply: the interaction as it begins, its steps one after another, and its end.
 * @see https://ai.google.dev/gemini-api/docs/interactions
 */
export function encodeInteractionStream(reply: ChatReply, context: EncodeContext<InteractionVariant>): WireEvent[] {
  const id = interactionId(reply, context);
  const own = identity(reply, context);
  const events: WireEvent[] = [];
  const send = (type: string, members: JsonObject): void => {
    events.push({ event: type, data: { ...members, event_type: type } });
  };
  send("interaction.created", { interaction: { id, status: "in_progress", ...own } });
  send("interaction.status_update", { interaction_id: id, status: "in_progress" });
  encodeSteps(reply, context).forEach(({ start, text, deltas }, index) => {
    send("step.start", { index, step: start });
    if (text !== undefined) {
      for (const piece of context.pieces(text.whole)) send("step.delta", { index, delta: text.delta(piece) });
    }
    for (const delta of deltas) send("step.delta", { index, delta });
    send("step.stop", { index });
  });
  send("interaction.completed", {
    interaction: { id, status: statusOf(reply), usage: encodeUsage(reply, context), ...tail(reply, context), ...own },
  });
  events.push({ event: "done", data: "[DONE]", raw: true, rides: true });
  return events;
}

/** The events of an interaction that was stored: it is read as a recording would be, and encoded again. */
export function encodeStoredStream(body: JsonObject, context: EncodeContext<InteractionVariant>): WireEvent[] {
  const reader = new Traverser(interactionRules, GEMINI_INTERACTIONS);
  reader.push(body, 0);
  return encodeInteractionStream(reader.finish(), context);
}
