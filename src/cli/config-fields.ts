import { isObject, kindOf } from "../dialects/raw-request.ts";

/** What a member of a configuration file has to be: a word for its type, the words it may be, or its own members. */
export type Field =
  | "string"
  | "number"
  | "rate"
  | "boolean"
  | "object"
  | "list"
  | "string or list"
  | "string or object"
  | readonly string[]
  | Fields;
export interface Fields {
  readonly [name: string]: Field;
}

/** Everything that is wrong with a value, each with where it is: a JSON pointer. */
export function faultsIn(value: unknown, fields: Fields, pointer: string): string[] {
  if (!isObject(value)) return [`${pointer}: expected an object, but it is ${kindOf(value)}`];
  return Object.entries(value).flatMap(([name, member]) => {
    const at = `${pointer}/${name}`;
    if (!Object.hasOwn(fields, name)) return [`${at}: unknown; there are ${Object.keys(fields).join(", ")}`];
    const field = fields[name]!;
    if (typeof field === "object" && !isWords(field)) return faultsIn(member, field, at);
    return fits(member, field) ? [] : [`${at}: expected ${expected(field)}, but it is ${shown(member)}`];
  });
}

function isWords(field: Field): field is readonly string[] {
  return Array.isArray(field);
}

function fits(value: unknown, field: Exclude<Field, Fields>): boolean {
  switch (field) {
    case "rate":
      return typeof value === "number" && value >= 0 && value <= 1;
    case "number":
      return typeof value === "number" && value >= 0;
    case "list":
      return isStrings(value);
    case "string or list":
      return typeof value === "string" || isStrings(value);
    case "string or object":
      return typeof value === "string" || isObject(value);
    case "object":
      return isObject(value);
    case "string":
    case "boolean":
      return typeof value === field;
    default:
      return typeof value === "string" && field.includes(value);
  }
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function expected(field: Exclude<Field, Fields>): string {
  switch (field) {
    case "rate":
      return "a number from 0 to 1";
    case "number":
      return "a number that is not negative";
    case "list":
      return "a list of strings";
    case "string or list":
      return "a string or a list of them";
    case "string or object":
      return "a file's name or an object";
    case "object":
      return "an object";
    case "string":
    case "boolean":
      return `a ${field}`;
    default:
      return `one of ${field.join(", ")}`;
  }
}

function shown(value: unknown): string {
  return typeof value === "object" || typeof value === "undefined" ? kindOf(value) : JSON.stringify(value);
}
