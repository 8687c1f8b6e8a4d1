/**
 * Looks into JSON as text, so that one value can be cut out or replaced while every other byte stays as written.
 * A parser and a serializer cannot do that: they lose the spelling of numbers and escapes, white space, repeated
 * members and a member called `__proto__`. All functions expect text that `JSON.parse` accepts.
 */

/** Where a value stands in its text: `text.slice(start, end)`. */
export interface Span {
  start: number;
  end: number;
}

/** One member of an object or element of an array; an element's key is its index. */
export interface Child extends Span {
  key: string;
}

export type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null";

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const COMMA = 44;

function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
    at++;
  }
}

/** The position after the string that opens at `from`. */
function skipString(text: string, from: number): number {
  let at = from;
  for (;;) {
    at = text.indexOf('"', at + 1);
    if (at < 0) throw new SyntaxError("Unterminated string in JSON text.");
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
}

function endsScalar(code: number): boolean {
  return (
    code === COMMA ||
    code === CLOSE_BRACE ||
    code === CLOSE_BRACKET ||
    code === 32 ||
    code === 10 ||
    code === 13 ||
    code === 9
  );
}

function skipValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = skipString(text, at);
      if (depth === 0) return at;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth++;
      at++;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth--;
      at++;
      if (depth === 0) return at;
    } else if (depth > 0) {
      at++;
    } else {
      while (at < text.length && !endsScalar(text.charCodeAt(at))) at++;
      return at;
    }
  }
}

/** The span of the whole value, white space around it left out. */
export function rootSpan(text: string): Span {
  return { start: skipSpace(text, 0), end: text.trimEnd().length };
}

export function kindAt(text: string, start: number): JsonKind {
  switch (text[start]) {
    case "{":
      return "object";
    case "[":
      return "array";
    case '"':
      return "string";
    case "t":
    case "f":
      return "boolean";
    case "n":
      return "null";
    default:
      return "number";
  }
}

/** The members of the object or elements of the array at `start`; none for any other value. */
export function childrenAt(text: string, start: number): Child[] {
  const kind = kindAt(text, start);
  if (kind !== "object" && kind !== "array") return [];
  const children: Child[] = [];
  let at = skipSpace(text, start + 1);
  while (text.charCodeAt(at) !== CLOSE_BRACE && text.charCodeAt(at) !== CLOSE_BRACKET) {
    let key = String(children.length);
    if (kind === "object") {
      const end = skipString(text, at);
      key = decodeString(text.slice(at, end));
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    const end = skipValue(text, at);
    children.push({ key, start: at, end });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return children;
}

/** The member `name` of the object at `start`. Of repeated members the last, as `JSON.parse` has it. */
export function memberAt(text: string, start: number, name: string): Child | undefined {
  return childrenAt(text, start).findLast((child) => child.key === name);
}

/** A JSON string literal's value. */
export function decodeString(literal: string): string {
  return literal.includes("\\") ? (JSON.parse(literal) as string) : literal.slice(1, -1);
}

/**
 * One spelling for every way to write the same number, digit for digit: `1`, `1.0` and `10e-1` are the same,
 * 9007199254740993 and 9007199254740992 are not, which doubles would make them.
 */
export function numberKey(literal: string): string {
  if (/^-?[1-9]\d{0,14}$/.test(literal) && !literal.endsWith("0")) return `${literal}e0`;
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal);
  if (!match) return literal;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0e0";
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}e${power}`;
}

/**
 * Puts `replacement` in place of each span. Spans may hold one another, the outer one then wins.
 */
export function replaceSpans(
  text: string,
  spans: readonly Span[],
  replacement: string | ((span: Span) => string),
): string {
  const ordered = [...spans].sort((a, b) => a.start - b.start || b.end - a.end);
  let result = "";
  let at = 0;
  for (const span of ordered) {
    if (span.start < at) continue;
    result += text.slice(at, span.start) + (typeof replacement === "string" ? replacement : replacement(span));
    at = span.end;
  }
  return result + text.slice(at);
}
