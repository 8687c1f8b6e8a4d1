import type { ApiError } from "./api-error.ts";
import type { HeaderFields, WireReply } from "./operation.ts";

/**
 * An error as JSON, with what every provider tells in its head.
 * @param headers over those
 */
export function errorReply({ status, retryAfter }: ApiError, body: object, headers?: HeaderFields): WireReply {
  return {
    status,
    headers: {
      "content-type": "application/json",
      ...headers,
      ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
    },
    body: JSON.stringify(body),
  };
}
