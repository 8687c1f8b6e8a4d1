import { isObject, type JsonObject } from "./raw-request.ts";

/** What bodies are checked for. */
export interface Kinds {
  string: string;
  integer: number;
  number: number;
  boolean: boolean;
  list: unknown[];
  object: JsonObject;
}

export type Kind = keyof Kinds;

/** Whether a JSON value is of a kind. */
export function isOf<K extends Kind>(kind: K, value: unknown): value is Kinds[K] {
  switch (kind) {
    case "list":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === kind;
  }
}
