import type { ApiError } from "../api-error.ts";
import { errorReply } from "../error-reply.ts";
import { errorObject } from "../openai-chat/errors.ts";
import type { WireReply } from "../operation.ts";

/** Whether one may call, and what, and how often, says the gateway before the models. */
const OF_GATEWAY = new Set([401, 403, 404, 408, 413, 429]);

/** A gateway's error has no type and the status for its code; the models behind it answer as OpenAI's do. */
export function encodeAzureError(error: ApiError): WireReply {
  const { status, message, type, param, extra } = error;
  if (type !== undefined || !OF_GATEWAY.has(status)) return errorReply(error, { error: errorObject(error) });
  const code = error.code ?? String(status);
  return errorReply(error, { error: { code, message, ...(param !== undefined && { param }), ...extra } });
}
