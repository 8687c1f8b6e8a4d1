import { notStrictBase64At } from "../../wire/base64.ts";
import { ApiError, badRequest } from "../api-error.ts";
import { isOf, type Kind, type Kinds } from "../kinds.ts";
import { kindOf } from "../raw-request.ts";

/**
 * @param place as AWS writes it: elements of lists are counted from 1 (`messages.1.member.role`)
 * @throws {ApiError} 400
 */
export function need<K extends Kind>(kind: K, value: unknown, place: string): Kinds[K] {
  if (isOf(kind, value)) return value;
  if (value === undefined || value === null) throw invalid(place, "null", "Member must not be null");
  throw new ApiError({
    status: 400,
    type: "SerializationException",
    message: `${place}: expected a ${kind}, but it is ${kindOf(value)}.`,
  });
}

/** The same for what may be left out. */
export function may<K extends Kind>(kind: K, value: unknown, place: string): Kinds[K] | undefined {
  return value === undefined || value === null ? undefined : need(kind, value, place);
}

export function invalid(place: string, value: string, constraint: string): ApiError {
  return badRequest(
    `1 validation error detected: Value ${value} at '${place}' failed to satisfy constraint: ${constraint}`,
  );
}

/** @throws {ApiError} 400 when a value is no base64 */
export function needBase64(value: unknown, place: string): string {
  const text = need("string", value, place);
  if (notStrictBase64At(text) >= 0) {
    throw new ApiError({ status: 400, type: "SerializationException", message: `${place}: this is no valid base64.` });
  }
  return text;
}
