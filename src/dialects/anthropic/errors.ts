import type { ApiError } from "../api-error.ts";
import { errorReply } from "../error-reply.ts";
import type { WireEvent, WireReply } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";

/**
 * Encodes an error.
 * @see https://docs.claude.com/en/api/errors
 */
export function encodeAnthropicError(error: ApiError, requestId?: string): WireReply {
  return errorReply(error, errorBody(error, requestId));
}

/** An error after the stream has begun, which the official client raises. */
export function encodeAnthropicStreamError(error: ApiError, requestId?: string): WireEvent {
  return { event: "error", data: errorBody(error, requestId) };
}

function errorBody(error: ApiError, requestId: string | undefined): JsonObject {
  const { message, code, extra } = error;
  return {
    type: "error",
    error: {
      type: error.type ?? typeOf(error.status),
      message,
      // Where the official client looks for a code.
      ...(code !== undefined && code !== null && { details: { error_code: code } }),
      ...extra,
    },
    request_id: requestId ?? null,
  };
}

function typeOf(status: number): string {
  switch (status) {
    case 401:
      return "authentication_error";
    case 402:
      return "billing_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 408:
    case 504:
      return "timeout_error";
    case 409:
      return "conflict_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 529:
      return "overloaded_error";
    default:
      return status >= 500 ? "api_error" : "invalid_request_error";
  }
}
