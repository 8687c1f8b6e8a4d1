import { isBrokenDataUrl, notBase64At } from "../../wire/base64.ts";
import { ApiError } from "../api-error.ts";
import { isOf } from "../kinds.ts";
import { isObject, type JsonObject, kindOf } from "../raw-request.ts";

/** @throws {ApiError} when a member that is there is no string, or one that is required is not there */
export function checkString(body: JsonObject, name: string, required: boolean, path = ""): void {
  const value = body[name];
  if (typeof value === "string") return;
  if (value === undefined || (value === null && !required)) {
    if (required) throw missing(path + name);
    return;
  }
  throw invalidType(path + name, "a string", value);
}

/** @throws {ApiError} when a member is there, is not null and has another type */
export function checkType(body: JsonObject, name: string, kind: "number" | "boolean" | "object"): void {
  const value = body[name];
  if (value === undefined || value === null || isOf(kind, value)) return;
  throw invalidType(name, kind === "object" ? "an object" : `a ${kind}`, value);
}

/** @throws {ApiError} when it is no object, or is not there */
export function checkObject(value: unknown, path: string): JsonObject {
  if (isObject(value)) return value;
  throw value === undefined ? missing(path) : invalidType(path, "an object", value);
}

/** @throws {ApiError} when a data URL holds something else than the base64 that it tells of */
export function checkDataUrl(url: unknown, param: string): void {
  if (typeof url === "string" && isBrokenDataUrl(url)) throw noBase64(param);
}

/** @throws {ApiError} when a text is no base64, nor a data URL of some */
export function checkBase64(data: unknown, param: string): void {
  if (typeof data !== "string") return;
  if (data.startsWith("data:")) checkDataUrl(data, param);
  else if (notBase64At(data) >= 0) throw noBase64(param);
}

function noBase64(param: string): ApiError {
  return new ApiError({
    status: 400,
    message: `Invalid '${param}': the data is no valid base64.`,
    param,
    code: "invalid_value",
  });
}

/**
 * How many choices are wanted.
 * @throws {ApiError} when that is no integer from 1 to 128
 */
export function checkChoices(body: JsonObject): number {
  const { n = null } = body;
  if (n === null) return 1;
  if (typeof n !== "number") throw invalidType("n", "a number", n);
  if (!(Number.isInteger(n) && n >= 1 && n <= 128)) {
    throw invalid("n", "expected an integer from 1 to 128", n, "integer_out_of_range");
  }
  return n;
}

export function missing(param: string): ApiError {
  return new ApiError({
    status: 400,
    message: `Missing required parameter: '${param}'.`,
    param,
    code: "missing_required_parameter",
  });
}

export function invalidType(param: string, expected: string, value: unknown): ApiError {
  return new ApiError({
    status: 400,
    message: `Invalid type for '${param}': expected ${expected}, but got ${kindOf(value)} instead.`,
    param,
    code: "invalid_type",
  });
}

export function invalid(param: string, expected: string, value: unknown, code: string): ApiError {
  const shown = JSON.stringify(value);
  const got = shown.length > 80 ? `${shown.slice(0, 80)}…` : shown;
  return new ApiError({
    status: 400,
    message: `Invalid value for '${param}': ${expected}, but got ${got}.`,
    param,
    code,
  });
}
