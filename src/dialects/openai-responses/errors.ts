import type { ApiError } from "../api-error.ts";
import { errorObject } from "../openai-chat/errors.ts";
import type { WireEvent } from "../operation.ts";

/**
 * An error after the stream has begun, which the official client raises. The double does not know how many
 * events have gone, and neither does any client look.
 * @see https://platform.openai.com/docs/api-reference/responses-streaming/error
 */
export function encodeResponsesStreamError(error: ApiError): WireEvent {
  return { event: "error", data: { type: "error", sequence_number: 0, error: errorObject(error) } };
}
