/** One place where what came differs from what a tape says. */
export interface Difference {
  /** The case (transcript, contract) it belongs to. */
  case: string;
  /** 1-based index of the frame, or 0 for a statement about the exchange as a whole. */
  response: number;
  /** JSON Pointer from the frame's root to the value; empty when it is about the frame itself. */
  pointer: string;
  /** The value on the tape as JSON, cut for reading; empty when `detail` says everything. */
  want: string;
  /** The value that came, likewise. */
  got: string;
  /** What is not a plain other value: a missing member, an unexpected one, a frame that never came. Empty otherwise. */
  detail: string;
}

/** The longest value that is shown whole. */
export const SHOWN_CHARACTERS = 160;

/** Two texts cut around the place where they begin to differ, so that the difference is in what is shown. */
export function cutAroundDifference(want: string, got: string, limit = SHOWN_CHARACTERS): [want: string, got: string] {
  let same = 0;
  const shorter = Math.min(want.length, got.length);
  while (same < shorter && want.charCodeAt(same) === got.charCodeAt(same)) same++;
  const start = Math.max(0, same - Math.floor(limit / 3));
  return [cut(want, start, limit), cut(got, start, limit)];
}

/** At most `limit` characters from `start`, with … for what is left out. Never halves a surrogate pair. */
export function cut(text: string, start = 0, limit = SHOWN_CHARACTERS): string {
  if (text.length <= limit) return text;
  let from = Math.min(start, text.length - limit);
  let to = from + limit;
  if (isLowSurrogate(text, from)) from++;
  if (isLowSurrogate(text, to)) to--;
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}

/** Where it is: `frame 3 /result/items/0`, or `exchange`. */
export function placeOf(difference: Difference): string {
  if (difference.response === 0) return "exchange";
  return `frame ${difference.response}${difference.pointer === "" ? "" : ` ${difference.pointer}`}`;
}

/** The difference on one line. */
export function formatDifference(difference: Difference): string {
  const values = [
    ...(difference.want === "" ? [] : [`want ${difference.want}`]),
    ...(difference.got === "" ? [] : [`got ${difference.got}`]),
  ].join(", ");
  const said = [difference.detail, values].filter((part) => part !== "").join(": ");
  return `${difference.case}: ${placeOf(difference)}: ${said}`;
}
