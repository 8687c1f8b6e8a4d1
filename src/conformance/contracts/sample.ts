import { compileLinearRegex } from "../../guard/linear-regex.ts";
import { valueAt } from "./template.ts";

/** Numbers from 0 up to 1. */
export type Random = () => number;

const DEEPEST = 8;
type Schema = Record<string, unknown>;

/**
 * A value that a schema accepts, as far as its keywords are the usual ones: what a mock answers where nobody wrote down
 * an answer. Examples and defaults of the schema come first.
 *
 * @param root the document that references lead into
 */
export function sampleOf(schema: unknown, root: unknown, random: Random, depth = 0): unknown {
  if (typeof schema !== "object" || schema === null) return {};
  const own = schema as Schema;
  const given = [
    "const" in own ? [own["const"]] : [],
    own["examples"],
    "default" in own ? [own["default"]] : [],
    own["enum"],
  ];
  for (const values of given) if (Array.isArray(values) && values.length > 0) return values[0];
  const target = own["$ref"];
  if (typeof target === "string") {
    const pointer = decodeURIComponent(target.slice(target.indexOf("#") + 1));
    return depth > DEEPEST ? null : sampleOf(valueAt(root, pointer), root, random, depth + 1);
  }
  for (const choice of ["oneOf", "anyOf"]) {
    const branches = own[choice];
    if (Array.isArray(branches) && branches.length > 0)
      return sampleOf(depth > DEEPEST ? (branches.find(isNull) ?? branches[0]) : branches[0], root, random, depth + 1);
  }
  if (Array.isArray(own["allOf"])) {
    const parts = own["allOf"].map((part) => sampleOf(part, root, random, depth + 1));
    return parts.every((part) => typeof part === "object" && part !== null)
      ? Object.assign({}, ...parts, own["properties"] ? sampleObject(own, root, random, depth) : {})
      : parts[0];
  }
  const type = Array.isArray(own["type"]) ? own["type"][0] : own["type"];
  switch (type ?? (own["properties"] ? "object" : own["items"] ? "array" : undefined)) {
    case "object":
      return sampleObject(own, root, random, depth);
    case "array": {
      const first = own["prefixItems"] ?? (Array.isArray(own["items"]) ? own["items"] : undefined);
      if (Array.isArray(first)) return first.map((item) => sampleOf(item, root, random, depth + 1));
      const least = typeof own["minItems"] === "number" ? own["minItems"] : depth > DEEPEST ? 0 : 1;
      return Array.from({ length: own["items"] ? least : 0 }, () => sampleOf(own["items"], root, random, depth + 1));
    }
    case "string":
      return sampleString(own, random);
    case "integer":
    case "number": {
      const least = own["minimum"] ?? (typeof own["exclusiveMinimum"] === "number" ? own["exclusiveMinimum"] + 1 : 0);
      return Math.min(Number(least), Number(own["maximum"] ?? Number.POSITIVE_INFINITY));
    }
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return {};
  }
}

function sampleObject(schema: Schema, root: unknown, random: Random, depth: number): Schema {
  const properties = (schema["properties"] ?? {}) as Schema;
  const required = (Array.isArray(schema["required"]) ? schema["required"] : []) as string[];
  const names = depth > DEEPEST / 2 ? required : Object.keys(properties);
  return Object.fromEntries(names.map((name) => [name, sampleOf(properties[name], root, random, depth + 1)]));
}

function isNull(schema: unknown): boolean {
  return (schema as Schema | null)?.["type"] === "null";
}

function sampleString(schema: Schema, random: Random): string {
  switch (schema["format"]) {
    case "uuid":
      return uuid(random);
    case "date-time":
      return "2026-01-31T12:00:00Z";
    case "date":
      return "2026-01-31";
    case "time":
      return "12:00:00Z";
    case "uri":
    case "url":
      return "https://example.org/";
    case "email":
      return "someone@example.org";
    case "hostname":
      return "example.org";
    case "ipv4":
      return "192.0.2.1";
    case "ipv6":
      return "2001:db8::1";
  }
  if (typeof schema["pattern"] === "string") return matching(schema["pattern"], random) ?? "";
  return "text".padEnd(Number(schema["minLength"] ?? 0), "x").slice(0, Number(schema["maxLength"] ?? 4_096));
}

export function uuid(random: Random): string {
  const digits = Array.from({ length: 32 }, (_, at) => {
    const digit = Math.floor(random() * 16);
    return (at === 12 ? 4 : at === 16 ? 8 + (digit % 4) : digit).toString(16);
  }).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

export function token(random: Random): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  return Array.from({ length: 32 }, () => letters[Math.floor(random() * letters.length)]).join("");
}

/** How often `*` and `+` repeat at most, beyond what they have to. */
const MOST_REPEATS = 4;
/** Parts of a text that are made at most: a pattern of a few characters can ask for all of the memory. */
const MOST_PARTS = 100_000;

/**
 * A text that a regular expression matches: literals, classes, groups, alternatives and counts. Undefined where it uses
 * more than these, or where the text does not match after all.
 */
export function matching(pattern: string, random: Random): string | undefined {
  try {
    const made = new PatternSample(pattern, random).make();
    return compileLinearRegex(pattern).test(made) ? made : undefined;
  } catch {
    return undefined;
  }
}

const CLASSES: Readonly<Record<string, string>> = {
  d: "0123456789",
  w: "abcdefghijklmnopqrstuvwxyz0123456789_",
  s: " ",
};

class PatternSample {
  private at = 0;
  private made = 0;
  private readonly pattern: string;
  private readonly random: Random;

  constructor(pattern: string, random: Random) {
    this.pattern = pattern;
    this.random = random;
  }

  make(): string {
    return this.alternatives()();
  }

  private alternatives(): () => string {
    const branches = [this.sequence()];
    while (this.pattern[this.at] === "|") {
      this.at++;
      branches.push(this.sequence());
    }
    return () => this.pick(branches)();
  }

  private sequence(): () => string {
    const parts: (() => string)[] = [];
    while (this.at < this.pattern.length && this.pattern[this.at] !== "|" && this.pattern[this.at] !== ")") {
      const part = this.atom();
      const [least, most] = this.counts();
      parts.push(() => this.repeat(part, least + Math.floor(this.random() * (most - least + 1))));
    }
    return () => parts.map((part) => part()).join("");
  }

  private repeat(part: () => string, count: number): string {
    let text = "";
    for (let left = count; left > 0; left--) {
      if (++this.made > MOST_PARTS) throw new Error("beyond what is made here");
      text += part();
    }
    return text;
  }

  private atom(): () => string {
    const character = this.next();
    if (character === "^" || character === "$") return () => "";
    if (character === ".") return () => this.pick([..."abcdefghij"]);
    if (character === "[") return this.characterClass();
    if (character === "\\") {
      const escaped = this.next();
      const all = CLASSES[escaped];
      if (all === undefined && /[A-Za-z0-9]/.test(escaped)) throw new Error("beyond what is made here");
      return all === undefined ? () => escaped : () => this.pick([...all]);
    }
    if (character !== "(") return () => character;
    if (this.pattern.startsWith("?:", this.at)) this.at += 2;
    else if (this.pattern[this.at] === "?") throw new Error("beyond what is made here");
    const inside = this.alternatives();
    this.at++;
    return inside;
  }

  private characterClass(): () => string {
    if (this.pattern[this.at] === "^") throw new Error("beyond what is made here");
    const characters: string[] = [];
    while (this.pattern[this.at] !== "]") {
      const from = this.next();
      if (from === "\\") {
        const escaped = this.next();
        characters.push(...(CLASSES[escaped] ?? escaped));
      } else if (this.pattern[this.at] === "-" && this.pattern[this.at + 1] !== "]") {
        this.at++;
        const to = this.next();
        for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code++)
          characters.push(String.fromCharCode(code));
      } else {
        characters.push(from);
      }
    }
    this.at++;
    return () => this.pick(characters);
  }

  private counts(): [least: number, most: number] {
    const found = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/.exec(this.pattern.slice(this.at));
    if (!found) return [1, 1];
    this.at += found[0].length;
    const [, sign, low, comma, high] = found;
    if (sign === "?") return [0, 1];
    if (sign !== undefined) return sign === "+" ? [1, 1 + MOST_REPEATS] : [0, MOST_REPEATS];
    const least = Number(low);
    if (comma === undefined) return [least, least];
    return [least, high ? Number(high) : least + MOST_REPEATS];
  }

  private next(): string {
    const character = this.pattern[this.at++];
    if (character === undefined) throw new Error("it ends too early");
    return character;
  }

  private pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.random() * choices.length)] as T;
  }
}
