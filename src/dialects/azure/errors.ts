import type { ApiError } from "../api-error.ts";
import type { HeaderFields, WireReply } from "../operation.ts";

/** OpenAI's error object, of which the code is the status where nothing better is known. */
export function encodeAzureError(error: ApiError): WireReply {
  const { status, message, type, param, retryAfter, extra } = error;
  const headers: HeaderFields = { "content-type": "application/json" };
  if (retryAfter !== undefined) headers["retry-after"] = String(retryAfter);
  const code = error.code ?? String(status);
  const body = { error: { code, message, type: type ?? null, param: param ?? null, ...extra } };
  return { status, headers, body: JSON.stringify(body) };
}
