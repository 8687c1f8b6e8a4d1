import { BASE64_CHARACTERS, mayBeginBase64Text } from "./base64-text.ts";
import { decodeEscapes, toView } from "./decoded-view.ts";
import type { Detector } from "./detector.ts";
import { growthOf } from "./growth.ts";

/** As deep as the finder looks. */
const DEEPEST = 6;

/** An escape that has begun, of JSON or of percent-encoding; of the latter, whole bytes too: more may be one character. */
const OPEN_ESCAPE = /(?:\\(?:u[0-9A-Fa-f]{0,3})?|(?:%[0-9A-Fa-f]{2}){1,3}(?:%[0-9A-Fa-f]?)?|%[0-9A-Fa-f]?)$/;

const IN_BASE64 = new Set(BASE64_CHARACTERS);

/**
 * From where on the end of a text that is not over may still become what detectors find, or part of it: also behind
 * escapes, and in base64. What is before may leave.
 * @param from nothing before it is looked at but as what stands before
 */
export function openFrom(detectors: readonly Detector[], text: string, from: number, depth = 0): number {
  const end = endOfEscapes(text);
  const whole = end === text.length ? text : text.slice(0, end);
  let open = Math.min(end, base64From(whole, from));
  for (const detector of detectors) {
    // What a detector says of the rest cannot be less than what another has said already.
    const at = growthOf(detector)(whole, Math.min(from, open));
    if (at < open) open = at;
  }
  const view = depth < DEEPEST && /[\\%]/.test(whole) ? decodeEscapes(whole) : undefined;
  if (view === undefined) return open;
  const inView = openFrom(detectors, view.text, toView(view, { start: from, end: from }).start, depth + 1);
  return Math.min(open, view.starts[inView]!);
}

/** Where the escape begins that the text ends in; its length where it ends in none. */
function endOfEscapes(text: string): number {
  const found = OPEN_ESCAPE.exec(text.slice(-24));
  if (found === null) return text.length;
  const start = text.length - found[0].length;
  if (found[0][0] === "%") return start;
  // Of a run of backslashes each pair is one escape.
  let before = start;
  while (before > 0 && text[before - 1] === "\\") before--;
  return (start - before) % 2 === 0 ? start : text.length;
}

/** Where a run of base64 begins that the text ends in, and that may be that of a text. */
function base64From(text: string, from: number): number {
  let end = text.length;
  if (text[end - 1] === "=" && text[end - 2] !== "=") end--;
  let start = end;
  while (start > from && IN_BASE64.has(text[start - 1]!)) start--;
  return start === end ? text.length : Math.min(mayBeginBase64Text(text, start, end) ?? text.length, text.length);
}
