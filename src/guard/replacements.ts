import { type Base64Text, base64Texts } from "./base64-text.ts";
import type { Detector } from "./detector.ts";

/** What stands for the secrets of one call: the same for the same secret, in all its spellings. */
export class Replacements {
  readonly #bySecret = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #numbered: boolean;

  /** @param numbered `«email:1»`, or `«email»` for all of a kind */
  constructor(numbered: boolean) {
    this.#numbered = numbered;
  }

  of({ name, normal }: Detector, secret: string): string {
    const spelled = normal ? normal(secret) : secret;
    const known = this.#bySecret.get(secret) ?? this.#bySecret.get(spelled);
    const replacement = known ?? (this.#numbered ? `«${name}:${this.#next(name)}»` : `«${name}»`);
    this.#bySecret.set(secret, replacement).set(spelled, replacement);
    return replacement;
  }

  /** Each secret, in every spelling that it was met in, with what stands for it. */
  entries(): Iterable<[secret: string, replacement: string]> {
    return this.#bySecret.entries();
  }

  /** Counts on from what an earlier redaction has left in the text. */
  reserve(text: string): void {
    for (const [, name, number] of text.matchAll(NUMBERED)) {
      this.#counts.set(name!, Math.max(this.#counts.get(name!) ?? 0, Number(number)));
    }
  }

  #next(name: string): number {
    const next = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, next);
    return next;
  }
}

const NUMBERED = /(?:«|\\+u00ab|%C2%AB)([a-z][a-z0-9-]*)(?::|%3A)(\d{1,9})(?:»|\\+u00bb|%C2%BB)/gi;

/**
 * A text of a redacted tape, or one that a client has from there, in the form that `Redactor.match` gives: `«email:1»`
 * as `«email»`, also where it is percent-encoded, escaped in JSON or in base64.
 */
export function withoutNumbers(text: string): string {
  let plain = text;
  for (const run of base64Texts(text).reverse()) plain = inBase64(plain, run);
  return withoutPlainNumbers(plain);
}

/** The same for a text in which there is no base64 of others. */
export function withoutPlainNumbers(text: string): string {
  return text.replace(NUMBERED, (found, name) => (found[0] === "%" ? `%C2%AB${name}%C2%BB` : `«${name}»`));
}

// In one alphabet and without padding: what a replacement is written in depends on what was there before it.
function inBase64(text: string, { start, end, text: decoded }: Base64Text): string {
  const plain = withoutNumbers(decoded);
  if (!plain.includes("«") && plain === decoded) return text;
  return text.slice(0, start) + Buffer.from(plain).toString("base64url") + text.slice(end);
}
