import { notStrictBase64At } from "../../wire/base64.ts";
import { ApiError, badRequest } from "../api-error.ts";
import { isObject, type JsonObject, kindOf } from "../raw-request.ts";

const KINDS = {
  string: (value: unknown): value is string => typeof value === "string",
  number: (value: unknown): value is number => typeof value === "number",
  list: (value: unknown): value is unknown[] => Array.isArray(value),
  object: isObject,
};

interface Kinds {
  string: string;
  number: number;
  list: unknown[];
  object: JsonObject;
}

/**
 * @param place as AWS writes it: elements of lists are counted from 1 (`messages.1.member.role`)
 * @throws {ApiError} 400
 */
export function need<Kind extends keyof Kinds>(kind: Kind, value: unknown, place: string): Kinds[Kind] {
  if (KINDS[kind](value)) return value as Kinds[Kind];
  if (value === undefined || value === null) throw invalid(place, "null", "Member must not be null");
  throw new ApiError({
    status: 400,
    type: "SerializationException",
    message: `${place}: expected a ${kind}, but it is ${kindOf(value)}.`,
  });
}

/** The same for what may be left out. */
export function may<Kind extends keyof Kinds>(kind: Kind, value: unknown, place: string): Kinds[Kind] | undefined {
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
