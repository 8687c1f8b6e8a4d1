import { type ApiError, badRequest } from "../api-error.ts";
import { isOf, type Kind } from "../kinds.ts";

/** @throws {ApiError} 400 */
export function check(path: string, kind: Kind, value: unknown): void {
  if (!isOf(kind, value)) throw wrong(path, kind, value);
}

/** The same for what may be left out. */
export function checkOptional(path: string, kind: Kind, value: unknown): void {
  if (value !== undefined && value !== null) check(path, kind, value);
}

export function wrong(path: string, kind: Kind, value: unknown): ApiError {
  if (value === undefined) return badRequest(`${path}: Field required`);
  return badRequest(`${path}: Input should be a valid ${kind === "object" ? "dictionary" : kind}`);
}
