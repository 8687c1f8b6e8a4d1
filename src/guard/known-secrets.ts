import { secretPartOf } from "./credential-headers.ts";
import type { Detector } from "./detector.ts";
import { DETECTORS } from "./detectors.ts";
import { type Finder, isReplaced, type Known } from "./find.ts";

/** Secrets of one call by what they were called or where they were: no detector would find them where they are quoted. */
export class KnownSecrets {
  readonly #finder: Finder;
  /** The longest first. */
  readonly list: Known[] = [];

  constructor(finder: Finder) {
    this.#finder = finder;
  }

  /** Whether one may be in a text. Right for a JSON document as text, too, but for what `Prescan.hidden` tells of. */
  areIn(text: string): boolean {
    if (this.list.length === 0) return false;
    const plain = withoutBackslashes(text);
    return this.list.some(({ text: known }) => plain.includes(withoutBackslashes(JSON.stringify(known).slice(1, -1))));
  }

  /** @param detector that it counts for, unless another one knows it by its looks */
  add(secret: string, detector: string): void {
    for (const text of partsOf(detector, secret)) {
      if (!isTelling(text) || isReplaced(text) || this.#finder.allows(text)) continue;
      if (this.list.some((known) => known.text === text)) continue;
      this.list.push({ text, detector: this.named(text, detector) });
      this.list.sort((a, b) => b.text.length - a.text.length);
    }
  }

  /** The detector that finds all of a text, else the one that it counts for. */
  named(secret: string, fallback: string): Detector {
    const found = this.#finder.find(secret);
    if (found.length === 1 && found[0]!.start === 0 && found[0]!.end === secret.length && !found[0]!.base64)
      return found[0]!.detector;
    return DETECTORS.find(({ name }) => name === fallback)!;
  }
}

/** The same for a text and for what JSON's short escapes make of it, at any depth. */
function withoutBackslashes(text: string): string {
  return text.includes("\\") ? text.replaceAll("\\", "") : text;
}

/** Whether it says enough to be looked for elsewhere too: it could be no word of any text. */
export function isTelling(secret: string): boolean {
  return secret.length >= LONGER_THAN_WORDS || (secret.length >= SHORTEST_KNOWN && /[^\p{L}]/u.test(secret));
}

const SHORTEST_KNOWN = 8;
const LONGER_THAN_WORDS = 20;

/** What of a credential says enough to be one by itself: all of it, each cookie's value, a password without its user. */
function partsOf(detector: string, secret: string): string[] {
  switch (detector) {
    case "cookie":
      return [secret, ...secret.split(/;\s*/).map((cookie) => cookie.slice(cookie.indexOf("=") + 1))];
    case "url-credential":
      // With a host behind it, it looks like an address and is one secret with it.
      return [secret, passwordOf(secret.split("@", 1)[0]!)];
    case "basic-credential": {
      const user = Buffer.from(secret, "base64").toString("utf8");
      return [secret, user, passwordOf(user)];
    }
    default:
      return [secret, secret.slice(secretPartOf(detector, secret).start)];
  }
}

/** The second half of `user:password`. */
function passwordOf(user: string): string {
  return user.slice(user.indexOf(":") + 1);
}
