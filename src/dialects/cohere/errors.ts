import type { ApiError } from "../api-error.ts";
import { errorReply } from "../error-reply.ts";
import type { WireEvent, WireReply } from "../operation.ts";

/**
 * Encodes an error.
 * @see https://docs.cohere.com/reference/errors
 */
export function encodeCohereError(error: ApiError, requestId?: string): WireReply {
  return errorReply(error, {
    ...(requestId !== undefined && { id: requestId }),
    message: error.message,
    ...error.extra,
  });
}

// Clients want counts at the end of every stream.
const NONE = {
  billed_units: { input_tokens: 0, output_tokens: 0 },
  tokens: { input_tokens: 0, output_tokens: 0 },
};

/** An error after the stream has begun: it ends the message. */
export function encodeCohereStreamError(error: ApiError): WireEvent {
  const type = "message-end";
  return { event: type, data: { type, delta: { finish_reason: "ERROR", error: error.message, usage: NONE } } };
}
