import type { ApiError } from "../api-error.ts";
import { errorReply } from "../error-reply.ts";
import type { WireEvent, WireReply } from "../operation.ts";

/**
 * The error object of this API, which has words where the rest of the Gemini API has numbers.
 * @see https://ai.google.dev/gemini-api/docs/interactions
 */
function errorObject(error: ApiError): Record<string, unknown> {
  return { message: error.message, code: error.code ?? error.type ?? codeOf(error.status), ...error.extra };
}

export function encodeInteractionError(error: ApiError): WireReply {
  return errorReply(error, { error: errorObject(error) });
}

export function encodeInteractionStreamError(error: ApiError): WireEvent {
  return { event: "error", data: { event_type: "error", error: errorObject(error) } };
}

function codeOf(status: number): string {
  switch (status) {
    case 401:
      return "unauthenticated";
    case 403:
      return "permission_denied";
    case 404:
      return "not_found";
    case 409:
      return "conflict";
    case 413:
      return "request_too_large";
    case 429:
      return "too_many_requests";
    case 503:
      return "service_unavailable";
    case 504:
      return "gateway_timeout";
    default:
      return status >= 500 ? "api_error" : "invalid_request";
  }
}
