import { pieces } from "../../chat/pieces.ts";
import type { ChatReply } from "../../chat/reply.ts";
import { badRequest } from "../api-error.ts";
import { encodeSteps, GEMINI_INTERACTIONS } from "../gemini-steps/response.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { Traverser } from "../traverser.ts";
import { encodeUsage, type InteractionVariant, identity, interactionId, statusOf, tail } from "./response.ts";
import { interactionRules } from "./rules.ts";
import type { Fetched } from "./store.ts";

/**
 * Encodes the streamed reply: the interaction as it begins, its steps one after another, and its end.
 * @param cut a text into what one event has of it
 * @see https://ai.google.dev/gemini-api/docs/interactions
 */
export function encodeInteractionStream(
  reply: ChatReply,
  context: EncodeContext<InteractionVariant>,
  cut = (text: string): string[] => context.pieces(text),
): WireEvent[] {
  const { resumable } = context.variant;
  const id = interactionId(reply, context);
  const own = identity(reply, context);
  const events: WireEvent[] = [];
  const send = (type: string, members: JsonObject): void => {
    const named = resumable ? { event_id: eventId(events.length) } : {};
    events.push({ event: type, data: { ...members, ...named, event_type: type } });
  };
  send("interaction.created", { interaction: { id, status: "in_progress", ...own } });
  send("interaction.status_update", { interaction_id: id, status: "in_progress" });
  encodeSteps(reply, context).forEach(({ start, text, deltas }, index) => {
    send("step.start", { index, step: start });
    if (text !== undefined) {
      for (const piece of cut(text.whole)) send("step.delta", { index, delta: text.delta(piece) });
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

/** Clients give it back as it was; it is the event's place. */
function eventId(place: number): string {
  return `event_${place}`;
}

/**
 * The place after the event with this id.
 * @throws {ApiError} 400 when no event has it
 */
export function placeAfter(id: string | null): number {
  if (id === null) return 0;
  const place = Number(/^event_(\d{1,9})$/.exec(id)?.[1]);
  if (Number.isNaN(place)) throw badRequest(`Invalid value '${id}' for last_event_id: no event has this id.`);
  return place + 1;
}

/** The events of an interaction that was stored: it is read as a recording would be, and encoded again. */
export function encodeStoredStream(
  { body, chunkSize }: Fetched,
  context: EncodeContext<InteractionVariant & { from: number }>,
): WireEvent[] {
  const reader = new Traverser(interactionRules, GEMINI_INTERACTIONS);
  reader.push(body, 0);
  const events = encodeInteractionStream(reader.finish(), context, (text) => pieces(text, chunkSize));
  // What says that it has ended is there in any case.
  return events.slice(Math.min(context.variant.from, events.length - 1));
}
