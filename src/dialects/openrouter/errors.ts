import type { ApiError } from "../api-error.ts";
import { errorReply } from "../error-reply.ts";
import type { WireEvent, WireReply } from "../operation.ts";

/** @see https://openrouter.ai/docs/api/reference/errors-and-debugging */
function errorObject(error: ApiError): Record<string, unknown> {
  // Fixtures may give the code in OpenAI's words; here it is the status.
  const code = typeof error.code === "number" ? error.code : error.status;
  return { message: error.message, code, ...error.extra };
}

export function encodeOpenRouterError(error: ApiError): WireReply {
  return errorReply(error, { error: errorObject(error) });
}

/** In the middle of a stream: a chunk of which the choice has ended with an error. */
export function encodeOpenRouterStreamError(error: ApiError): WireEvent {
  const choices = [{ index: 0, delta: { content: "" }, finish_reason: "error" }];
  return { data: { object: "chat.completion.chunk", error: errorObject(error), choices } };
}
