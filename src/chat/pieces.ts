// Made when the first text needs it: it costs a start several milliseconds.
let graphemes: Intl.Segmenter | undefined;
// Longer than any cluster that people write; a longer one is cut, which beats a scan of the whole text.
const LONGEST_CLUSTER = 64;
const SINGLE_UNIT = /^[\x20-\x7e]*$/;

/**
 * A text in pieces of at most `size` UTF-16 units, never cut inside a grapheme: a grapheme that is longer is a
 * piece of its own. Joined they are the text; an empty text gives no piece.
 */
export function pieces(text: string, size: number): string[] {
  const step = Math.max(1, Math.floor(size));
  const result: string[] = [];
  const simple = SINGLE_UNIT.test(text);
  for (let start = 0; start < text.length; ) {
    const end = start + step;
    const cut = simple || end >= text.length ? end : graphemeCut(text, start, step);
    result.push(text.slice(start, cut));
    start = cut;
  }
  return result;
}

/** `start` is a boundary; gives the last one at or before `start + step`, or the first one after it. */
function graphemeCut(text: string, start: number, step: number): number {
  const slice = text.slice(start, start + step + LONGEST_CLUSTER);
  graphemes ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const cluster = graphemes.segment(slice).containing(step);
  if (cluster === undefined) return start + step;
  return cluster.index > 0 ? start + cluster.index : start + cluster.segment.length;
}
