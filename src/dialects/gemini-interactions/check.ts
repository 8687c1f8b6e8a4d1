import { notBase64At } from "../../wire/base64.ts";
import { ApiError } from "../api-error.ts";
import { isObject, type JsonObject, kindOf } from "../raw-request.ts";

/** @throws {ApiError} when a member is there, is not null and has another type */
export function checkType(body: JsonObject, name: string, type: "string" | "number" | "boolean", path = ""): void {
  const value = body[name];
  if (value !== undefined && value !== null && typeof value !== type) throw wrong(path + name, `a ${type}`, value);
}

/** @throws {ApiError} when the member is no string */
export function requireString(body: JsonObject, name: string, path: string): string {
  const value = body[name];
  if (typeof value !== "string") throw wrong(path + name, "a string", value);
  return value;
}

/** @throws {ApiError} when it is no object */
export function requireObject(value: unknown, path: string): JsonObject {
  if (!isObject(value)) throw wrong(path, "an object", value);
  return value;
}

/** The elements as objects with a type; none if the list is not there. */
export function typedObjects(value: unknown, path: string): (JsonObject & { type: string })[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrong(path, "an array", value);
  return value.map((element, index) => {
    requireString(requireObject(element, `${path}[${index}]`), "type", `${path}[${index}].`);
    return element;
  });
}

/** @throws {ApiError} when a member is there and is no base64 */
export function checkBase64(body: JsonObject, name: string, path: string): void {
  checkType(body, name, "string", path);
  const value = body[name];
  if (typeof value === "string" && notBase64At(value) >= 0)
    throw invalid(`The value at '${path}${name}' is not base64.`);
}

export function wrong(path: string, expected: string, value: unknown): ApiError {
  return invalid(`The value at '${path}' must be ${expected}, but it is ${kindOf(value)}.`);
}

export function invalid(message: string): ApiError {
  return new ApiError({ status: 400, message });
}
