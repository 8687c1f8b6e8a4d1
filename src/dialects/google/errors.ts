import type { ApiError } from "../api-error.ts";
import { errorReply } from "../error-reply.ts";
import type { WireEvent, WireReply } from "../operation.ts";
import type { JsonObject, RawRequest } from "../raw-request.ts";

/**
 * Google's error object, which Gemini and Vertex AI answer with.
 * @see https://ai.google.dev/gemini-api/docs/troubleshooting
 * @see https://cloud.google.com/apis/design/errors
 */
export function encodeGoogleError(error: ApiError): WireReply {
  return errorReply(error, errorBody(error), { "content-type": "application/json; charset=UTF-8" });
}

/**
 * The same for a chat, whose errors come in a list where a stream was asked for that is none of server-sent events.
 * @param raw the request
 */
export function encodeGenerateError(error: ApiError, _requestId?: string, raw?: RawRequest): WireReply {
  const reply = encodeGoogleError(error);
  const listed = raw?.path.endsWith(":streamGenerateContent") && raw.query.get("alt") !== "sse";
  return listed ? inList(reply) : reply;
}

function inList(reply: WireReply): WireReply {
  return { ...reply, body: `[${reply.body}]` };
}

/** Whether one of OpenAI's clients asks Gemini, which has a path for them. */
export function isForOpenAIClients({ url }: RawRequest): boolean {
  return url.includes("/v1beta/openai/");
}

/**
 * What one of OpenAI's clients is answered there: Google's errors, those of a chat in a list, which these clients
 * cannot read.
 */
export function encodeErrorForOpenAIClients(error: ApiError, { path }: RawRequest): WireReply {
  const reply = encodeGoogleError(error);
  return path.endsWith("/chat/completions") ? inList(reply) : reply;
}

/** An error after the stream has begun, which the official client raises. */
export function encodeGoogleStreamError(error: ApiError): WireEvent {
  return { data: errorBody(error) };
}

function errorBody(error: ApiError): JsonObject {
  const { status: code, message, type, extra } = error;
  // A word of another provider (`rate_limit_error`) would be no status here.
  const status = type !== undefined && STATUS.test(type) ? type : statusOf(code);
  const details = detailsOf(error);
  return { error: { code, message, status, ...(details.length > 0 && { details }), ...extra } };
}

const STATUS = /^[A-Z]+(_[A-Z]+)*$/;

function detailsOf({ code, param, retryAfter, message }: ApiError): JsonObject[] {
  const details: JsonObject[] = [];
  if (code !== undefined && code !== null) {
    details.push({ "@type": `${RPC}ErrorInfo`, reason: String(code), domain: "googleapis.com" });
  }
  if (param !== undefined && param !== null) {
    details.push({ "@type": `${RPC}BadRequest`, fieldViolations: [{ field: param, description: message }] });
  }
  if (retryAfter !== undefined) details.push({ "@type": `${RPC}RetryInfo`, retryDelay: `${retryAfter}s` });
  return details;
}

const RPC = "type.googleapis.com/google.rpc.";

function statusOf(code: number): string {
  switch (code) {
    case 401:
      return "UNAUTHENTICATED";
    case 403:
      return "PERMISSION_DENIED";
    case 404:
      return "NOT_FOUND";
    case 409:
      return "ABORTED";
    case 429:
      return "RESOURCE_EXHAUSTED";
    case 499:
      return "CANCELLED";
    case 501:
      return "UNIMPLEMENTED";
    case 503:
      return "UNAVAILABLE";
    case 504:
      return "DEADLINE_EXCEEDED";
    default:
      return code >= 500 ? "INTERNAL" : "INVALID_ARGUMENT";
  }
}
