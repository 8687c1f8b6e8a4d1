import { type Base64Text, base64Texts } from "./base64-text.ts";
import { decodeEscapes, toSource, toView } from "./decoded-view.ts";
import { type Detector, type Place, placesOf } from "./detector.ts";
import { PairTable, type Prescan } from "./prescan.ts";

/** A secret in a text: undecoded where it stands, decoded in `secret`. */
export interface Found extends Place {
  detector: Detector;
  /** Without escapes. Never to be shown. */
  secret: string;
  /** It is a run of base64 whose text holds secrets. */
  base64?: { in: Base64Text; found: Found[] };
}

/** A place that is a secret for another reason than its looks. */
export interface Known {
  text: string;
  detector: Detector;
}

/** Escapes in escapes; base64 in base64. Deeper than anything that is sent in earnest. */
const DEEPEST = 6;

/** Stands for a secret that was found while more are looked for: no detector finds it, none looks across it. */
const MASK = "«";
const SHORT_ESCAPES = /\\+(["/bfnrt])/g;
const PLACEHOLDERS = /(?:«|%C2%AB|\\u00ab)[a-z][a-z0-9-]*(?:(?::|%3A)\d+)?(?:»|%C2%BB|\\u00bb)/gi;

/** The detectors that are on, ready to look at any number of texts. */
export class Finder {
  readonly detectors: readonly Detector[];
  readonly #pairs: PairTable;
  readonly #allowed: ReadonlySet<string>;
  readonly #isPlaceholder: (text: string) => boolean;

  /**
   * @param allow texts that are no secrets, however they are spelled
   * @param isPlaceholder whether a text only marks where something will stand, and is no secret either
   */
  constructor(
    detectors: readonly Detector[],
    allow: readonly string[] = [],
    isPlaceholder: (text: string) => boolean = () => false,
  ) {
    this.detectors = detectors;
    this.#pairs = new PairTable(detectors);
    this.#allowed = new Set(allow.flatMap((text) => [text, ...spellingsOf(text, detectors)]));
    this.#isPlaceholder = isPlaceholder;
  }

  has(name: string): boolean {
    return this.detectors.some((detector) => detector.name === name);
  }

  /** Whether a text is no secret, whatever finds it. */
  allows(text: string, detector?: Detector): boolean {
    if (this.#isPlaceholder(text) || this.#allowed.has(text)) return true;
    return detector?.normal !== undefined && this.#allowed.size > 0 && this.#allowed.has(detector.normal(text));
  }

  /** Whether there is certainly no secret in the text. Right for a JSON document as text, too. Does not know `known` ones. */
  isClean(text: string): boolean {
    const scan = this.#pairs.scan(text);
    if (scan.hidden || (scan.base64 && base64Texts(text).length > 0)) return false;
    const likely = likelyIn(text, scan.detectors);
    if (likely.length === 0) return true;
    // Without its short escapes, which would else join with the word behind them.
    const plain = scan.escaped ? text.replace(SHORT_ESCAPES, (_, escaped) => (escaped === '"' ? '"' : " ")) : text;
    return !likely.some(
      (detector) => finds(detector, plain) || (detector.backslashes === true && finds(detector, text)),
    );
  }

  /**
   * Every secret in a text, in order, none overlapping another; sees through escapes and base64.
   * @param known texts that are secrets although no detector finds them
   */
  find(text: string, known: readonly Known[] = []): Found[] {
    return this.#find(text, known, [], 0);
  }

  #find(text: string, known: readonly Known[], pushed: readonly (Found & { cut: boolean })[], depth: number): Found[] {
    const scan = this.#pairs.scan(text);
    const allowed: Place[] = [];
    const native = this.#look(text, scan, known, depth, allowed);
    const here = merge(
      text,
      native,
      pushed.filter((found) => !isBetter(native, found) && !isInside(allowed, found)),
    );
    const view = scan.escaped && depth < DEEPEST ? decodeEscapes(text) : undefined;
    if (view === undefined) return here;
    // What escapes hide is seen in the view only, and what the view shows better (an escape before it is none of its
    // characters) takes its place.
    const inView = here.map((found) => ({ ...found, ...toView(view, found) }));
    return this.#find(view.text, known, inView, depth + 1).map((found) => toSource(view, found));
  }

  /**
   * As the text stands. Again and again, because what is found may be the border that another secret needs.
   * @param allowed gets the places of what would be one if it were not allowed
   */
  #look(text: string, scan: Prescan, known: readonly Known[], depth: number, allowed: Place[]): Found[] {
    let all: Found[] = [];
    let masked = text;
    for (let round = 0; round < DEEPEST; round++) {
      const found: Found[] = [];
      for (const { text: secret, detector } of known) {
        for (let at = masked.indexOf(secret); at >= 0; at = masked.indexOf(secret, at + secret.length))
          found.push({ start: at, end: at + secret.length, detector, secret });
      }
      for (const detector of likelyIn(masked, scan.detectors)) {
        for (const { start, end } of placesOf(detector, masked)) {
          const secret = masked.slice(start, end);
          if (this.allows(secret, detector)) allowed.push({ start, end });
          else if (!isReplaced(secret)) found.push({ start, end, detector, secret });
        }
      }
      if (scan.base64 && depth < DEEPEST) {
        for (const run of base64Texts(masked)) {
          const inside = this.#find(run.text, known, [], depth + 1);
          if (inside.length > 0)
            found.push({ ...inside[0]!, start: run.start, end: run.end, base64: { in: run, found: inside } });
        }
      }
      // A part of what is allowed, such as the host in an address, is no secret either.
      const fresh = found.filter((one) => !isInside(allowed, one));
      if (fresh.length === 0) break;
      all = merge(text, all, fresh);
      masked = maskedText(text, all);
    }
    return all;
  }
}

/** The spelling of a text by each detector that would find it. */
function spellingsOf(text: string, detectors: readonly Detector[]): string[] {
  return detectors.flatMap((detector) => {
    if (detector.normal === undefined) return [];
    const [place] = placesOf(detector, text);
    return place !== undefined && place.start === 0 && place.end === text.length ? [detector.normal(text)] : [];
  });
}

function finds(detector: Detector, text: string): boolean {
  return placesOf(detector, text).length > 0;
}

/** Those detectors that are worth their time. */
function likelyIn(text: string, detectors: readonly Detector[]): readonly Detector[] {
  const held = new Map<RegExp, boolean>();
  return detectors.filter(({ hints, holds }) => {
    if (holds === undefined) return hints === undefined || hints.some((hint) => text.includes(hint));
    if (!held.has(holds)) held.set(holds, holds.test(text));
    return held.get(holds)!;
  });
}

/** What a redaction put there is no secret, even where a detector goes by what stands around it. */
export function isReplaced(secret: string): boolean {
  if (!secret.includes("«") && !/%C2%AB|\\u00ab/i.test(secret)) return false;
  return saysNothing(secret.replace(PLACEHOLDERS, ""));
}

/** Whether a text is nothing but the scheme of a credential, and what stands between words. */
export function saysNothing(text: string): boolean {
  return !/[\p{L}\p{N}]/u.test(text.replace(/\b(?:bearer|basic|key|token)\b/gi, ""));
}

/** Whether it is in one of the places; the character of an escape that it cuts is none of it. */
function isInside(places: readonly Place[], { start, end, cut = false }: Place & { cut?: boolean }): boolean {
  return places.some((place) => place.start <= start + (cut ? 1 : 0) && end <= place.end);
}

/** Whether one of the places that were found as the text stands ends no earlier than one that cuts an escape. */
function isBetter(native: readonly Found[], cut: Found & { cut: boolean }): boolean {
  return cut.cut && native.some((found) => found.start < cut.end && found.end >= cut.end && found.start > cut.start);
}

/** In order, with those that overlap made one. A secret as such counts before base64 of it, then the first one names it. */
function merge(text: string, left: readonly Found[], right: readonly Found[]): Found[] {
  const order = [...left, ...right].map((found, index) => ({ found, index }));
  order.sort((a, b) => a.found.start - b.found.start || a.index - b.index);
  const merged: { found: Found; index: number }[] = [];
  for (const { found, index } of order) {
    const last = merged.at(-1);
    if (last === undefined || found.start >= last.found.end) {
      merged.push({ found, index });
      continue;
    }
    const isSame = found.start === last.found.start && found.end === last.found.end;
    if (isSame && (last.found.base64 === undefined) === (found.base64 === undefined)) continue;
    const named =
      (last.found.base64 === undefined) !== (found.base64 === undefined)
        ? last.found.base64 === undefined
          ? last
          : { found, index }
        : last.index <= index
          ? last
          : { found, index };
    const start = last.found.start;
    const end = Math.max(last.found.end, found.end);
    const { base64: _, ...direct } = named.found;
    merged[merged.length - 1] = {
      found: { ...direct, start, end, secret: text.slice(start, end) },
      index: named.index,
    };
  }
  return merged.map(({ found }) => found);
}

/** The text with something in the places of what was found that no detector finds. */
export function maskedText(text: string, found: readonly Place[]): string {
  let masked = "";
  let from = 0;
  for (const { start, end } of found) {
    masked += text.slice(from, start) + MASK.repeat(end - start);
    from = end;
  }
  return masked + text.slice(from);
}
