import type { Detector, Growth } from "./detector.ts";

/** How far what a detector finds may still grow at the end of a text that is not over. */
export function growthOf(detector: Detector): Growth {
  let growth = known.get(detector);
  if (growth === undefined) {
    growth = made(detector);
    known.set(detector, growth);
  }
  return growth;
}

const known = new WeakMap<Detector, Growth>();

function made({ name, find, growing }: Detector): Growth {
  const form = growing ?? find;
  if (typeof form !== "function") return patternGrowth(form);
  // A function of its own that says nothing of streams would let everything through in pieces.
  if (form === find) throw new Error(`The detector "${name}" does not say how its matches grow.`);
  return form as Growth;
}

/** @param form of all that may be found */
export function patternGrowth(form: RegExp): Growth {
  const pattern = new RegExp(`(?:${beginningsOf(form.source, "$")})$`, form.flags.replace(/[dgy]/g, "").concat("g"));
  return (text, from) => {
    pattern.lastIndex = from;
    return pattern.exec(text)?.index ?? text.length;
  };
}

/**
 * A pattern that matches, up to the end of the text, every beginning of what another one matches: each of its
 * characters may be the end instead. Lookbehind stays, since what is before is known; what lookahead refuses may still
 * come. Reads JavaScript's syntax and RE2's.
 * @param end how the end of the text is written
 */
export function beginningsOf(source: string, end: "$" | "\\z"): string {
  return new BeginningsReader(source, end).alternatives();
}

const QUANTIFIER = /(?:[*+?]|\{\d+(?:,\d*)?\})[?+]?/y;
const ESCAPE =
  /\\(?:[pP]\{[^}]*\}|[pP][A-Za-z]|x\{[0-9A-Fa-f]+\}|x[0-9A-Fa-f]{2}|u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|c[A-Za-z]|[0-7]{1,3}|[\s\S])/uy;
const LITERALS = /\\Q([\s\S]*?)(?:\\E|$)/y;
const GROUP = /\((?:\?(?:<?[=!]|:|P?<[A-Za-z_]\w*>|[imsU-]+[:)]))?/y;
const CLASSES = {
  $: /\[(?:\\[\s\S]|[^\]\\])*\]/y,
  // A bracket that comes first is one of the characters.
  "\\z": /\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]/y,
};

class BeginningsReader {
  readonly #source: string;
  readonly #end: keyof typeof CLASSES;
  #at = 0;

  constructor(source: string, end: keyof typeof CLASSES) {
    this.#source = source;
    this.#end = end;
  }

  alternatives(): string {
    let result = "";
    for (;;) {
      const char = this.#source[this.#at];
      if (char === undefined || char === ")") return result;
      if (char === "|") {
        this.#at++;
        result += "|";
      } else result += this.#term();
    }
  }

  #term(): string {
    const start = this.#at;
    const [, ...literals] = this.#take(LITERALS) ?? [];
    if (literals.length > 0) return [...literals[0]!].map((char) => this.#orEnd(escaped(char))).join("");
    const opening = this.#take(GROUP)?.[0];
    if (opening !== undefined) return this.#group(opening);
    const atom = (this.#take(CLASSES[this.#end]) ?? this.#take(ESCAPE))?.[0] ?? this.#character();
    if (atom === "^" || atom === "\\A") return atom;
    const quantifier = this.#take(QUANTIFIER)?.[0] ?? "";
    // What may be absent anyway needs no other way to be so.
    if (/^(?:[*?]|\{0)/.test(quantifier)) return this.#source.slice(start, this.#at);
    return this.#orEnd(atom) + quantifier;
  }

  #group(opening: string): string {
    if (opening.startsWith("(?") && opening.endsWith(")")) return opening;
    const start = this.#at;
    const inside = this.alternatives();
    const original = this.#source.slice(start, this.#at);
    this.#at++;
    const quantifier = this.#take(QUANTIFIER)?.[0] ?? "";
    switch (opening) {
      case "(?=":
        return `(?:(?=${original})|(?=(?:${inside})${this.#end}))`;
      case "(?!":
        return `(?:(?!${original})|(?=(?:${inside})${this.#end})[\\s\\S]*)`;
      case "(?<=":
      case "(?<!":
        return `${opening}${original})`;
      default:
        // Two groups of one name are not allowed, and nobody asks for them by name.
        return `${/^\(\?P?</.test(opening) ? "(" : opening}${inside})${quantifier}`;
    }
  }

  #character(): string {
    const char = String.fromCodePoint(this.#source.codePointAt(this.#at)!);
    this.#at += char.length;
    return char;
  }

  #orEnd(atom: string): string {
    return `(?:${atom}|${this.#end})`;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#source);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    return match;
  }
}

function escaped(char: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}
