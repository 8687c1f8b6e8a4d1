import { pointerSegment } from "../../wire/json-pointer.ts";
import { numberKey } from "../../wire/json-text.ts";
import type { Placeholders } from "./placeholders.ts";
import { literalOf, placeholderIn, textAt, valueAt } from "./template.ts";

/** One place where what came has not the golden's shape. */
export interface ShapeDifference {
  pointer: string;
  detail: string;
  /** As JSON; empty where `detail` says everything. */
  want: string;
  got: string;
}

export interface ShapeRules {
  placeholders: Placeholders;
  /** What placeholders stand for in this run, as JSON text. */
  bound: ReadonlyMap<string, string>;
  /** Whether the schema has judged the message: then it has ruled on every null. */
  schemaRules: boolean;
  /** Objects that may have further members; patterns, already split. */
  extraMembers: readonly string[][];
  /** The text that came, for numbers that a double cannot hold. */
  text: string;
  /** In an array's element: other things than the bound one may be listed, so a bound placeholder counts by its kind. */
  listed?: boolean;
}

export interface ShapeResult {
  differences: ShapeDifference[];
  /** What could not be checked, in words. */
  notes: string[];
}

/**
 * Holds a message to a golden one, by shape: the same members, none missing and none extra, the same kinds of values.
 * Literals are plausible values, not the only ones. Each element of an array has to have the shape of one of the
 * golden's elements.
 */
export function compareShape(golden: unknown, got: unknown, rules: ShapeRules): ShapeResult {
  const result: ShapeResult = { differences: [], notes: [] };
  compareAt(golden, got, "", rules, result);
  return result;
}

type Kind = "object" | "array" | "string" | "number" | "boolean" | "null";

function kindOf(value: unknown): Kind {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : (typeof value as Kind);
}

function compareAt(golden: unknown, got: unknown, pointer: string, rules: ShapeRules, result: ShapeResult): void {
  const name = placeholderIn(golden);
  if (name !== undefined) {
    comparePlaceholder(name, got, pointer, rules, result);
    return;
  }
  const want = kindOf(golden);
  const kind = kindOf(got);
  if (want !== kind) {
    if (want !== "null" && kind !== "null") {
      result.differences.push({
        pointer,
        detail: `expected ${article(want)}, and ${article(kind)} came`,
        want: shown(literalOf(golden)),
        got: shown(got),
      });
    } else if (!rules.schemaRules) {
      result.notes.push(
        `${pointer}: ${kind === "null" ? "null came where the golden has a value" : "a value came where the golden has null"}; accepted, since no schema says whether null is right`,
      );
    }
    return;
  }
  if (want === "object")
    compareMembers(golden as Record<string, unknown>, got as Record<string, unknown>, pointer, rules, result);
  else if (want === "array") compareElements(golden as unknown[], got as unknown[], pointer, rules, result);
}

function compareMembers(
  golden: Record<string, unknown>,
  got: Record<string, unknown>,
  pointer: string,
  rules: ShapeRules,
  result: ShapeResult,
): void {
  const names = Object.keys(golden).filter((key) => rules.bound.has(key) || rules.placeholders.knows(key));
  const literals = new Set<string>();
  for (const key of Object.keys(golden)) {
    if (names.includes(key)) continue;
    const name = literalOf(key) as string;
    literals.add(name);
    const at = pointer + pointerSegment(name);
    if (Object.hasOwn(got, name)) compareAt(golden[key], got[name], at, rules, result);
    else
      result.differences.push({ pointer: at, detail: "it is missing", want: shown(literalOf(golden[key])), got: "" });
  }
  const others = Object.keys(got).filter((key) => !literals.has(key));
  if (names.length > 0) {
    compareNamed(golden, names, got, others, pointer, rules, result);
    return;
  }
  if (mayHaveMore(pointer, rules.extraMembers)) return;
  for (const key of others) {
    result.differences.push({
      pointer: pointer + pointerSegment(key),
      detail: "the golden has no such member",
      want: "",
      got: shown(got[key]),
    });
  }
}

/** Members whose names are placeholders: like a list, of things that are told apart by their names. */
function compareNamed(
  golden: Record<string, unknown>,
  names: readonly string[],
  got: Record<string, unknown>,
  others: readonly string[],
  pointer: string,
  rules: ShapeRules,
  result: ShapeResult,
): void {
  for (const name of names) {
    const bound = rules.bound.get(name);
    if (bound !== undefined && !rules.listed && !others.includes(String(JSON.parse(bound))))
      result.differences.push({
        pointer,
        detail: `no member has the name that ${name} is bound to`,
        want: bound,
        got: "",
      });
    else if (others.length === 0) result.notes.push(`${pointer}: no member ${name} came, so its value is unchecked`);
  }
  for (const key of others) {
    const at = pointer + pointerSegment(key);
    const fits = names.filter((name) => rules.bound.has(name) || rules.placeholders.accepts(name, key));
    const [name] = fits;
    if (name === undefined)
      result.differences.push({
        pointer: at,
        detail: `expected as its name ${names.map((other) => rules.placeholders.meaning(other)).join(", or ")}`,
        want: "",
        got: shown(key),
      });
    else compareAt(golden[name], got[key], at, { ...rules, listed: true }, result);
  }
}

function compareElements(
  golden: readonly unknown[],
  got: readonly unknown[],
  pointer: string,
  rules: ShapeRules,
  result: ShapeResult,
): void {
  if (golden.length === 0 || got.length === 0) {
    const which = golden.length === 0 ? "the golden's array is empty" : "an empty array came";
    if (golden.length > 0 || got.length > 0) result.notes.push(`${pointer}: ${which}, so its elements are unchecked`);
    return;
  }
  for (const name of missingFrom(golden, got, pointer, rules))
    result.differences.push({
      pointer,
      detail: `no element has what ${name} is bound to`,
      want: rules.bound.get(name) ?? "",
      got: "",
    });
  const listed = { ...rules, listed: true };
  for (const [index, element] of got.entries()) {
    const at = pointer + pointerSegment(String(index));
    let nearest: ShapeResult | undefined;
    for (const wanted of golden) {
      const tried: ShapeResult = { differences: [], notes: [] };
      compareAt(wanted, element, at, listed, tried);
      if (nearest === undefined || tried.differences.length < nearest.differences.length) nearest = tried;
      if (tried.differences.length === 0) break;
    }
    result.differences.push(...(nearest?.differences ?? []));
    result.notes.push(...(nearest?.notes ?? []));
  }
}

/** Bound placeholders of the golden's elements that no element which came holds in the same place. */
function missingFrom(
  golden: readonly unknown[],
  got: readonly unknown[],
  pointer: string,
  rules: ShapeRules,
): Set<string> {
  const missing = new Set<string>();
  if (rules.listed || rules.bound.size === 0) return missing;
  for (const element of golden) {
    for (const { at, name } of boundIn(element, rules.bound)) {
      const there = got.some((candidate, index) =>
        sameValue(rules.bound.get(name) as string, valueAt(candidate, at), () =>
          textAt(rules.text, `${pointer}/${index}${at}`),
        ),
      );
      if (!there) missing.add(name);
    }
  }
  return missing;
}

function boundIn(value: unknown, bound: ReadonlyMap<string, string>, at = ""): { at: string; name: string }[] {
  const name = placeholderIn(value);
  if (name !== undefined) return bound.has(name) ? [{ at, name }] : [];
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => boundIn(member, bound, at + pointerSegment(key)));
}

function comparePlaceholder(name: string, got: unknown, pointer: string, rules: ShapeRules, result: ShapeResult): void {
  const bound = rules.bound.get(name);
  if (bound !== undefined && rules.listed) {
    compareAt(JSON.parse(bound), got, pointer, rules, result);
    return;
  }
  if (bound !== undefined) {
    if (!sameValue(bound, got, () => textAt(rules.text, pointer)))
      result.differences.push({ pointer, detail: `it is not what ${name} is bound to`, want: bound, got: shown(got) });
    return;
  }
  if (rules.placeholders.accepts(name, got)) return;
  if (got === null) {
    if (!rules.schemaRules)
      result.notes.push(`${pointer}: null came for ${name}; accepted, since no schema says whether null is right`);
    return;
  }
  result.differences.push({
    pointer,
    detail: `expected ${rules.placeholders.meaning(name)}`,
    want: JSON.stringify(name),
    got: shown(got),
  });
}

/** Whether a value that came is the bound one. Numbers are compared digit for digit. */
export function sameValue(bound: string, got: unknown, gotText: () => string | undefined): boolean {
  if (typeof got === "number") return numberKey(bound) === numberKey(gotText() ?? String(got));
  return JSON.stringify(JSON.parse(bound)) === JSON.stringify(got);
}

function mayHaveMore(pointer: string, patterns: readonly string[][]): boolean {
  if (patterns.length === 0) return false;
  const segments = pointer.split("/").slice(1);
  return patterns.some(
    (pattern) =>
      pattern.length === segments.length &&
      pattern.every((part, index) => part === "*" || pointerSegment(part).slice(1) === segments[index]),
  );
}

function article(kind: Kind): string {
  return kind === "object" || kind === "array" ? `an ${kind}` : kind === "null" ? kind : `a ${kind}`;
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? "";
}
