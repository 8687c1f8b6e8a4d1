import type { Native } from "../chat/reply.ts";
import { type Item, read, readFirst, withValue } from "./paths.ts";
import type { Op, Rule, Take } from "./rules.ts";

/** What a rule found for one field: never empty. */
export interface Reading {
  /** The field's name up to the first dot. */
  field: string;
  /** The place inside it, empty for the whole. */
  inside: string;
  op: Op;
  values: unknown[];
  /** Which text of the field's list. */
  at?: number;
}

/** The fields of a part, an envelope, a choice … by name. */
export type Fields = Record<string, unknown>;

/** What a rule's fields find in an item. A value of another type than the field is left out. */
export function readFields(fields: Rule["fields"], item: Item): Reading[] {
  const readings: Reading[] = [];
  for (const name in fields) {
    const given = fields[name]!;
    const take: Take = typeof given === "string" || Array.isArray(given) ? { take: given } : given;
    const dot = name.indexOf(".");
    const field = dot < 0 ? name : name.slice(0, dot);
    const inside = dot < 0 ? "" : name.slice(dot + 1);
    const op = take.op ?? "replace";
    if (take.at !== undefined) {
      const at = readFirst(take.at, item);
      const texts = takeValues(take, item).filter((value) => typeof value === "string");
      if (Number.isSafeInteger(at) && (at as number) >= 0 && texts.length > 0) {
        readings.push({ field, inside, op, values: texts, at: at as number });
      }
      continue;
    }
    const values = takeValues(take, item).filter(
      (value) => inside !== "" || op === "json" || op === "assign" || fits(field, value),
    );
    if (values.length > 0) readings.push({ field, inside, op, values });
  }
  return readings;
}

function takeValues(take: Take, item: Item): unknown[] {
  for (const path of typeof take.take === "string" ? [take.take] : take.take) {
    const values: unknown[] = [];
    for (const { value } of read(path, item)) {
      const taken = transform(take, value);
      if (taken !== undefined && taken !== null) values.push(taken);
    }
    if (values.length > 0) return values;
  }
  return [];
}

function transform({ except, via }: Take, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  let taken = value;
  if (except !== undefined) {
    if (typeof value !== "object" || Array.isArray(value)) return undefined;
    const rest = Object.entries(value).filter(([name]) => !except.includes(name));
    if (rest.length === 0) return undefined;
    taken = Object.fromEntries(rest);
  }
  switch (via) {
    case undefined:
      return taken;
    case "list":
      return [taken];
    case "texts":
      return Array.isArray(taken) ? taken.map((element) => element?.text) : undefined;
    case "json":
      return typeof taken === "string" ? taken : JSON.stringify(taken);
  }
}

/** Whether a value may stand in a field of `chat/reply.ts`. */
function fits(field: string, value: unknown): boolean {
  switch (field) {
    case "native":
    case "annotations":
    case "raw":
    case "value":
    case "logprobs":
      return true;
    case "reason":
      // An empty one is what some providers send before they have stopped.
      return typeof value === "string" && value !== "";
    case "created":
      return typeof value === "number" && Number.isFinite(value);
    case "summary":
      return Array.isArray(value) && value.every((element) => typeof element === "string");
    default:
      return typeof value === "string";
  }
}

/**
 * What a field holds after a reading, or undefined if it stays as it is. `fallback`, `json` and `assign` are not
 * decided before a part ends and change nothing here.
 */
export function fieldAfter(fields: Fields, { field, inside, op, values }: Reading, dialect: string): unknown {
  const native = isNative(field);
  const before = native ? (fields[field] as Native | undefined)?.value : fields[field];
  const place = inside === "" ? before : readFirst(inside, { value: before, position: 0 });
  let after = place;
  for (const value of values) after = combined(op, after, value);
  if (after === place) return undefined;
  const whole = withValue(before, inside, after);
  return native ? { dialect, value: whole } : whole;
}

function isNative(field: string): boolean {
  return field === "native" || field === "annotations" || field === "raw";
}

function combined(op: Op, before: unknown, value: unknown): unknown {
  switch (op) {
    case "append":
      if (typeof before === "string" && typeof value === "string") return before + value;
      return Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : (before ?? value);
    case "merge":
      return isMembers(before) && isMembers(value) ? merged(before, value) : value;
    case "replace":
      return value === "" && before !== undefined ? before : value;
    case "fallback":
    case "json":
    case "assign":
      return before;
  }
}

function isMembers(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function merged(before: Fields, value: Fields): Fields {
  const there = Object.entries(value).filter(([name, member]) => member !== null || !Object.hasOwn(before, name));
  return { ...before, ...Object.fromEntries(there) };
}
