import type { ApiError } from "../api-error.ts";
import { errorReply } from "../error-reply.ts";
import type { WireEvent, WireReply } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";

/**
 * Encodes an error: its kind is in a header.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html
 */
export function encodeBedrockError(error: ApiError): WireReply {
  return errorReply(error, errorBody(error), {
    "x-amzn-errortype": `${typeOf(error)}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
  });
}

/** An error after the stream has begun, which the official clients raise. */
export function encodeBedrockStreamError(error: ApiError): WireEvent {
  const type = typeOf(error);
  return { event: eventOf(IN_STREAM.has(type) ? type : "ModelStreamErrorException"), data: errorBody(error) };
}

function errorBody({ message, extra }: ApiError): JsonObject {
  return { message, ...extra };
}

/** Those that a stream has an event for. */
const IN_STREAM = new Set([
  "InternalServerException",
  "ModelStreamErrorException",
  "ModelTimeoutException",
  "ServiceUnavailableException",
  "ThrottlingException",
  "ValidationException",
]);

function eventOf(type: string): string {
  return type[0]!.toLowerCase() + type.slice(1);
}

/** The events of a stream that are errors. */
export const ERROR_EVENTS = [...IN_STREAM].map(eventOf);

/** Fixtures name the types of other providers too, which an AWS client could not make a class of. */
function typeOf({ type, status, code }: ApiError): string {
  if (type?.endsWith("Exception")) return type;
  if (code === "unknown_url" || status === 405) return "UnknownOperationException";
  switch (status) {
    case 401:
      return "UnrecognizedClientException";
    case 403:
      return "AccessDeniedException";
    case 404:
      return "ResourceNotFoundException";
    case 408:
      return "ModelTimeoutException";
    case 409:
      return "ConflictException";
    case 413:
      return "RequestEntityTooLargeException";
    case 424:
      return "ModelErrorException";
    case 429:
      return "ThrottlingException";
    case 503:
    case 529:
      return "ServiceUnavailableException";
    default:
      return status >= 500 ? "InternalServerException" : "ValidationException";
  }
}
