import type { ApiError } from "../api-error.ts";
import type { HeaderFields, WireEvent, WireReply } from "../operation.ts";

/**
 * Encodes an error.
 * @see https://docs.ollama.com/api/errors
 */
export function encodeOllamaError(error: ApiError): WireReply {
  const headers: HeaderFields = { "content-type": "application/json; charset=utf-8" };
  if (error.retryAfter !== undefined) headers["retry-after"] = String(error.retryAfter);
  return { status: error.status, headers, body: JSON.stringify({ error: error.message, ...error.extra }) };
}

/** An error after the stream has begun: a line in place of the next, which the official client raises. */
export function encodeOllamaStreamError(error: ApiError): WireEvent {
  return { data: { error: error.message } };
}
