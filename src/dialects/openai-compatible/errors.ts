import type { ApiError } from "../api-error.ts";
import { errorReply } from "../error-reply.ts";
import { errorObject } from "../openai-chat/errors.ts";
import type { WireEvent, WireReply } from "../operation.ts";

/**
 * - `openai`: `{error: {message, type, param, code}}`
 * - `numbered`: the same with the status as its code
 * - `flat`: the same members without `error` around them
 * - `mistral`: the same with `object`
 * - `xai`: `{code, error}`, both texts
 * - `zai`: `{error: {code, message}}` with codes of its own
 */
export type ErrorShape = "openai" | "numbered" | "flat" | "mistral" | "xai" | "zai";

/** An error as a provider's clients know it. */
export function encodeCompatibleError(shape: ErrorShape, error: ApiError): WireReply {
  return errorReply(error, bodyOf(shape, error));
}

/** In mid-stream all have a member by which clients tell an error from a chunk. */
export function encodeCompatibleStreamError(shape: ErrorShape, error: ApiError): WireEvent {
  return { data: bodyOf(shape === "flat" ? "openai" : shape, error) };
}

function bodyOf(shape: ErrorShape, error: ApiError): object {
  const openai = errorObject(error);
  switch (shape) {
    case "openai":
      return { error: openai };
    case "numbered":
      return { error: { ...openai, code: error.code ?? error.status } };
    case "flat":
      return openai;
    case "mistral":
      return { object: "error", ...openai };
    case "xai":
      return { code: openai["code"] ?? openai["type"], error: error.message, ...error.extra };
    case "zai":
      return { error: { code: String(error.code ?? zaiCode(error.status)), message: error.message, ...error.extra } };
  }
}

/** @see https://docs.z.ai/api-reference/api-code */
function zaiCode(status: number): number {
  switch (status) {
    case 400:
      return 1210;
    case 401:
      return 1000;
    case 429:
      return 1302;
    case 500:
      return 1234;
    default:
      return status;
  }
}
