import type { ApiError } from "../api-error.ts";
import { errorReply } from "../error-reply.ts";
import { encodeErrorForOpenAIClients, isForOpenAIClients } from "../google/errors.ts";
import type { WireEvent, WireReply } from "../operation.ts";
import type { RawRequest } from "../raw-request.ts";

/**
 * OpenAI's error object, by which most compatible providers answer too.
 * @see https://platform.openai.com/docs/guides/error-codes
 */
export function errorObject(error: ApiError): Record<string, unknown> {
  return {
    message: error.message,
    type: error.type ?? typeOf(error.status),
    param: error.param ?? null,
    code: error.code ?? codeOf(error.status),
    ...error.extra,
  };
}

/** @param raw the request, for Gemini answers OpenAI's clients with errors of its own */
export function encodeOpenAIError(error: ApiError, _requestId?: string, raw?: RawRequest): WireReply {
  if (raw !== undefined && isForOpenAIClients(raw)) return encodeErrorForOpenAIClients(error, raw);
  return errorReply(error, { error: errorObject(error) });
}

/** An error after the stream has begun: the event that the official client raises as an error. */
export function encodeOpenAIStreamError(error: ApiError): WireEvent {
  return { data: { error: errorObject(error) } };
}

function typeOf(status: number): string {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 429:
      return "rate_limit_error";
    case 503:
      return "service_unavailable_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

function codeOf(status: number): string | null {
  switch (status) {
    case 401:
      return "invalid_api_key";
    case 429:
      return "rate_limit_exceeded";
    default:
      return null;
  }
}
