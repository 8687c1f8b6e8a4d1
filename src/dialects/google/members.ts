import { type ApiError, badRequest } from "../api-error.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

/** A member of a message that Google's API takes in both spellings: `systemInstruction` and `system_instruction`. */
export function member(object: JsonObject, name: string): unknown {
  const value = object[name];
  return value === undefined ? object[snakeCase(name)] : value;
}

/** Where a value is, for the message of an error: put together only when there is one. */
export type Place = () => string;

/**
 * An object, or undefined when the member is not there or null.
 * @throws {ApiError} 400
 */
export function objectMember(object: JsonObject, name: string, path: Place): JsonObject | undefined {
  const value = member(object, name);
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw invalid(path(), "an object", value);
  return value;
}

/** @throws {ApiError} 400 */
export function stringMember(object: JsonObject, name: string, path: Place): string | undefined {
  const value = member(object, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw invalid(path(), "TYPE_STRING", value);
  return value;
}

/**
 * Numbers come as their text too, as protocol buffers have them in JSON.
 * @throws {ApiError} 400
 */
export function numberMember(object: JsonObject, name: string, path: Place): number | undefined {
  const value = member(object, name);
  if (value === undefined || value === null) return undefined;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) throw invalid(path(), "a number", value);
  return number;
}

/**
 * The elements of a list. Google takes a single element in its place.
 * @throws {ApiError} 400
 */
export function listMember(object: JsonObject, name: string, path: Place): JsonObject[] {
  const value = member(object, name);
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [element(value, path)];
  value.forEach((item, index) => {
    element(item, () => `${path()}[${index}]`);
  });
  return value as JsonObject[];
}

function element(value: unknown, path: Place): JsonObject {
  if (!isObject(value)) throw invalid(path(), "an object", value);
  return value;
}

export function invalid(path: string, expected: string, value: unknown): ApiError {
  const shown = JSON.stringify(value) ?? "undefined";
  const got = shown.length > 80 ? `${shown.slice(0, 80)}…` : shown;
  return badRequest(`Invalid value at '${path}' (${expected}), ${got}`, path);
}

const snakes = new Map<string, string>();

function snakeCase(name: string): string {
  let snake = snakes.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakes.set(name, snake);
  }
  return snake;
}
