import type { ApiError } from "../api-error.ts";
import type { HeaderFields, WireEvent, WireReply } from "../operation.ts";

/**
 * Encodes an error.
 * @see https://docs.cohere.com/reference/errors
 */
export function encodeCohereError(error: ApiError, requestId?: string): WireReply {
  const headers: HeaderFields = { "content-type": "application/json" };
  if (error.retryAfter !== undefined) headers["retry-after"] = String(error.retryAfter);
  const body = { ...(requestId !== undefined && { id: requestId }), message: error.message, ...error.extra };
  return { status: error.status, headers, body: JSON.stringify(body) };
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
