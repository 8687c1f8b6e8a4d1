import type { ApiError } from "../api-error.ts";
import { errorObject } from "../openai-chat/errors.ts";
import type { WireEvent } from "../operation.ts";

/**
 * An error after the stream has begun, which the official client raises.
 * @see https://platform.openai.com/docs/api-reference/responses-streaming/error
 */
export function encodeResponsesStreamError(error: ApiError, _requestId?: string, sent = 0): WireEvent {
  return { event: "error", data: { type: "error", sequence_number: sent, error: errorObject(error) } };
}
