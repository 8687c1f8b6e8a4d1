import type { ChatReply } from "../../chat/reply.ts";
import { EventList, streamItem } from "../openai-items/stream.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import { encodeFinishedResponse, type ResponseVariant, unfinished } from "./response.ts";

/**
 * Encodes the streamed reply.
 * @see https://platform.openai.com/docs/api-reference/responses-streaming
 */
export function encodeResponseStream(reply: ChatReply, context: EncodeContext<ResponseVariant>): WireEvent[] {
  const response = encodeFinishedResponse(reply, context);
  return responseEvents(response, (text) => context.pieces(text), context.variant.background);
}

/**
 * The events of a response: its states, its items as they grow, and the whole of it at the end.
 * @param pieces cuts a text into what one event has of it
 * @param background whether it has been queued first
 */
export function responseEvents(
  response: JsonObject,
  pieces: (text: string) => string[],
  background: boolean,
): WireEvent[] {
  const stream = new EventList(pieces);
  const begun = unfinished(response, background ? "queued" : "in_progress");
  stream.send("response.created", { response: begun });
  if (background) stream.send("response.queued", { response: begun });
  stream.send("response.in_progress", { response: unfinished(response, "in_progress") });
  for (const [index, item] of (response["output"] as JsonObject[]).entries()) streamItem(item, index, stream);
  const { status, error } = response;
  if (status === "failed" && isObject(error) && error["code"] !== "content_filter") {
    stream.send("error", {
      error: { type: error["code"], code: error["code"], message: error["message"], param: null },
    });
  }
  stream.send(`response.${typeof status === "string" ? status : "completed"}`, { response });
  return stream.events;
}
