import type { ApiError } from "../api-error.ts";
import { errorReply } from "../error-reply.ts";
import type { WireReply } from "../operation.ts";

/** OpenAI's error object, of which the code is the status where nothing better is known. */
export function encodeAzureError(error: ApiError): WireReply {
  const { status, message, type, param, extra } = error;
  const code = error.code ?? String(status);
  return errorReply(error, { error: { code, message, type: type ?? null, param: param ?? null, ...extra } });
}
