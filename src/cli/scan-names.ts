import { slug } from "../fixtures/recorded-files.ts";
import type { Redaction } from "../guard/redact.ts";

/** Fewer characters of a secret that a name breaks off in are words as often. */
const SHORTEST_CUT = 8;

/**
 * A file's name as it may be shown. Names of recordings are words of a request, and where it was not redacted there may
 * be a secret among them, which no detector knows in that spelling.
 * @param redaction that the file's text has been through
 */
export function shownName(name: string, redaction: Redaction): { name: string; detectors: string[] } {
  let shown = redaction.text(name, "file name");
  for (const [secret, replacement] of redaction.replaced) shown = withoutWords(shown, slug(secret), replacement);
  if (shown === name) return { name, detectors: [] };
  const found = [...shown.matchAll(/«([a-z0-9-]+):\d+»/g)].map(([, detector]) => detector!);
  return { name: shown, detectors: [...new Set(found)] };
}

function withoutWords(name: string, words: string, replacement: string): string {
  const whole = name.replace(new RegExp(`(?<![\\p{L}\\p{N}])${words}(?![\\p{L}\\p{N}])`, "gu"), () => replacement);
  if (whole !== name) return whole;
  // What is too long is cut, before the fingerprint.
  const [, stem = "", end = ""] = /^(.*?)((?:-[0-9a-f]{8}(?:-\d+)?)?\.\w+)?$/s.exec(name) ?? [];
  for (let length = words.length - 1; length >= SHORTEST_CUT; length--) {
    const cut = words.slice(0, length);
    if (stem.endsWith(cut) && !/[\p{L}\p{N}]$/u.test(stem.slice(0, -length))) {
      return stem.slice(0, -length) + replacement + end;
    }
  }
  return name;
}
