import { BASE64_CHARACTERS, mayBeBase64Text, SHORTEST_BASE64 } from "./base64-text.ts";
import type { Detector } from "./detector.ts";

/** What a first look at a text says. */
export interface Prescan {
  /** Those that may find something, in their order. */
  detectors: readonly Detector[];
  /** Whether there may be runs of base64 of a text. */
  base64: boolean;
  /** Whether there are escapes that may hide what is looked for: `\u0041`, `\/`, `%41`. Others hide none of the hints. */
  hidden: boolean;
  /** Whether there is any escape at all. */
  escaped: boolean;
}

const IN_BASE64 = new Uint8Array(128);
for (const character of BASE64_CHARACTERS) IN_BASE64[character.charCodeAt(0)] = 1;

const ESCAPED = "escaped";
const HIDDEN = "hidden";
type Meaning = Detector | typeof ESCAPED | typeof HIDDEN;

/**
 * One pass over a text, whatever the number of detectors: a table of all pairs of ASCII characters says which detectors
 * have a hint with this pair. Clean text is done with after it.
 */
export class PairTable {
  /** What each pair means, as an index to `#meanings`; most mean nothing, which is 0. */
  readonly #pairs: Uint16Array;
  readonly #meanings: readonly ReadonlySet<Meaning>[];
  readonly #order: readonly Detector[];
  readonly #seen: Uint8Array;
  /** Those that have nothing to go by are always asked. */
  readonly #always: readonly Detector[];

  constructor(detectors: readonly Detector[]) {
    this.#order = detectors;
    this.#always = detectors.filter(({ hints, pairs }) => hints === undefined && pairs === undefined);
    const byPair = new Map<number, Set<Meaning>>();
    const add = (firsts: string, seconds: string, meaning: Meaning) => {
      for (const first of firsts)
        for (const second of seconds) {
          const pair = (first.charCodeAt(0) << 7) | second.charCodeAt(0);
          byPair.set(pair, (byPair.get(pair) ?? new Set()).add(meaning));
        }
    };
    for (const detector of detectors) {
      for (const hint of detector.hints ?? []) {
        const [first, second] = rarestPair(hint);
        const spellings = (text: string) => (detector.anyCase ? text.toLowerCase() + text.toUpperCase() : text);
        add(spellings(first), spellings(second), detector);
      }
      for (const [firsts, seconds] of detector.pairs ?? []) add(firsts, seconds, detector);
    }
    add("\\", 'unrtbf"\\/', ESCAPED);
    add("\\", "u/", HIDDEN);
    add("%", "0123456789abcdefABCDEF", ESCAPED);
    add("%", "0123456789abcdefABCDEF", HIDDEN);

    this.#pairs = new Uint16Array(128 * 128);
    const meanings: ReadonlySet<Meaning>[] = [new Set()];
    const known = new Map<string, number>();
    for (const [pair, meaning] of byPair) {
      const key = [...meaning].map((one) => (typeof one === "string" ? one : one.name)).join(" ");
      let index = known.get(key);
      if (index === undefined) {
        index = meanings.push(meaning) - 1;
        known.set(key, index);
      }
      this.#pairs[pair] = index;
    }
    this.#meanings = meanings;
    this.#seen = new Uint8Array(meanings.length);
  }

  scan(text: string): Prescan {
    const pairs = this.#pairs;
    const seen = this.#seen.fill(0);
    let base64 = false;
    let runStart = 0;
    let before = 0;
    // Half as long as by `charCodeAt`.
    const { buffer, byteOffset } = Buffer.from(text, "utf16le");
    const codes = new Uint16Array(buffer, byteOffset, text.length);
    const { length } = codes;
    for (let at = 0; at < length; at++) {
      const code = codes[at]!;
      if (code < 128) {
        seen[pairs[(before << 7) | code]!] = 1;
        before = code;
        if (IN_BASE64[code] === 1) continue;
      } else before = 0;
      if (at - runStart >= SHORTEST_BASE64 && !base64) base64 = mayBeBase64Text(text, runStart, at);
      runStart = at + 1;
    }
    if (length - runStart >= SHORTEST_BASE64 && !base64) base64 = mayBeBase64Text(text, runStart, length);
    return this.#read(base64);
  }

  #read(base64: boolean): Prescan {
    let found: Set<Meaning> | undefined = this.#always.length > 0 ? new Set(this.#always) : undefined;
    for (let index = 1; index < this.#seen.length; index++) {
      if (this.#seen[index] === 0) continue;
      found ??= new Set();
      for (const meaning of this.#meanings[index]!) found.add(meaning);
    }
    if (found === undefined) return base64 ? ONLY_BASE64 : NOTHING;
    return {
      detectors: this.#order.filter((detector) => found!.has(detector)),
      base64,
      hidden: found.has(HIDDEN),
      escaped: found.has(ESCAPED),
    };
  }
}

const NOTHING: Prescan = { detectors: [], base64: false, hidden: false, escaped: false };
const ONLY_BASE64: Prescan = { ...NOTHING, base64: true };

const ANY = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join("");

/** The characters of prose, code and JSON, from the most frequent on. */
const FREQUENT = ' etaoinsrhldcu"mfpgwyb,.v:01k2-_/3456789x';

/** The pair of neighbours in a literal that is met least in other texts. */
function rarestPair(literal: string): [string, string] {
  if (literal.length === 1) return [ANY, literal];
  const rarity = (character: string) => (FREQUENT.includes(character) ? FREQUENT.indexOf(character) : FREQUENT.length);
  let best = 0;
  let bestRarity = -1;
  for (let at = 0; at + 1 < literal.length; at++) {
    const sum = rarity(literal[at]!) + rarity(literal[at + 1]!);
    if (sum > bestRarity) [best, bestRarity] = [at, sum];
  }
  return [literal[best]!, literal[best + 1]!];
}
