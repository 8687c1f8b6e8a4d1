import { parsePointer, spansOf } from "../wire/json-pointer.ts";
import { replaceSpans } from "../wire/json-text.ts";

/** What stands where a volatile value was. */
export const VOLATILE_MASK = "<volatile>";

const MASK_TEXT = JSON.stringify(VOLATILE_MASK);

/**
 * Masks what a case declares volatile, for recording and, on both sides, for comparing. A transcript is committed and
 * read: unmasked, it would carry the recording machine's clock and home folder, and replay correctly all the same, so
 * that nobody would notice. All else stays as it was written; a frame that does not parse is given back unchanged, for
 * the replay to complain about.
 *
 * @param volatile JSON Pointers from the frame's root; throws a SyntaxError for what is none.
 */
export function redact(frame: string, volatile: readonly string[]): string {
  if (volatile.length === 0) return frame;
  try {
    JSON.parse(frame);
  } catch {
    return frame;
  }
  return redactJson(frame, volatile);
}

/** `redact` for a text that is known to be JSON. */
export function redactJson(frame: string, volatile: readonly string[]): string {
  const spans = volatile.flatMap((pointer) => spansOf(frame, patternOf(pointer)));
  return spans.length === 0 ? frame : replaceSpans(frame, spans, MASK_TEXT);
}

const patterns = new Map<string, string[]>();

function patternOf(pointer: string): string[] {
  let pattern = patterns.get(pointer);
  if (!pattern) {
    pattern = parsePointer(pointer);
    if (patterns.size < 10_000) patterns.set(pointer, pattern);
  }
  return pattern;
}
