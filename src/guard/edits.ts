import type { Place } from "./detector.ts";

/** A replacement in a text. */
export interface Edit extends Place {
  text: string;
}

/** @param edits in order, none overlapping another */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = "";
  let from = 0;
  for (const edit of edits) {
    result += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return from === 0 ? text : result + text.slice(from);
}

/**
 * Edits of a text that is in pieces, as edits of the pieces. What replaces goes into the piece in which the place
 * begins, so the pieces stay as many and all else stays where it is.
 */
export function splitEdits(lengths: readonly number[], edits: readonly Edit[]): Edit[][] {
  const split: Edit[][] = lengths.map(() => []);
  let piece = 0;
  let begin = 0;
  for (const { start, end, text } of edits) {
    while (piece < lengths.length - 1 && begin + lengths[piece]! <= start) begin += lengths[piece++]!;
    split[piece]!.push({ start: start - begin, end: Math.min(end - begin, lengths[piece]!), text });
    while (piece < lengths.length - 1 && begin + lengths[piece]! < end) {
      begin += lengths[piece++]!;
      split[piece]!.push({ start: 0, end: Math.min(end - begin, lengths[piece]!), text: "" });
    }
  }
  return split;
}

/** Edits of a text as edits of its bytes in UTF-8; the texts hold what each byte is, as `latin1`. */
export function toByteEdits(text: string, edits: readonly Edit[]): Edit[] {
  let from = 0;
  let bytes = 0;
  const offsetOf = (at: number) => {
    bytes += Buffer.byteLength(text.slice(from, at));
    from = at;
    return bytes;
  };
  return edits.map((edit) => ({
    start: offsetOf(edit.start),
    end: offsetOf(edit.end),
    text: Buffer.from(edit.text).toString("latin1"),
  }));
}
