import type { Place } from "./detector.ts";

/**
 * A text with one level of escapes undone (JSON's and percent-encoding), and where each of its characters came from.
 * Looking at it finds what escapes hide at any depth (arguments of tools are JSON in strings of JSON), also in a text
 * that is cut and could not be parsed; what is found maps to whole escapes, so that none is broken by a replacement.
 */
export interface DecodedView {
  text: string;
  /** Where each character's escape begins in the source, and at the end the source's length. */
  starts: readonly number[];
}

const JSON_ESCAPE = /\\(?:u[0-9A-Fa-f]{4}|["\\/bfnrt])/g;
const ESCAPE = /\\(?:u[0-9A-Fa-f]{4}|["\\/bfnrt])|(?:%[0-9A-Fa-f]{2})+/g;
const SHORT: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/**
 * Undefined when there is no escape.
 * @param only `json` for what is certainly the inside of a JSON string
 */
export function decodeEscapes(source: string, only?: "json"): DecodedView | undefined {
  if (!source.includes("\\") && (only === "json" || !source.includes("%"))) return undefined;
  let text = "";
  const starts: number[] = [];
  let from = 0;
  const copyTo = (to: number) => {
    text += source.slice(from, to);
    for (let at = from; at < to; at++) starts.push(at);
  };
  for (const { 0: written, index } of source.matchAll(only === "json" ? JSON_ESCAPE : ESCAPE)) {
    copyTo(index);
    if (written[0] === "\\") {
      text +=
        written[1] === "u"
          ? String.fromCharCode(Number.parseInt(written.slice(2), 16))
          : (SHORT[written[1]!] ?? written[1]);
      starts.push(index);
    } else text += decodePercents(written, index, starts);
    from = index + written.length;
  }
  if (from === 0) return undefined;
  copyTo(source.length);
  starts.push(source.length);
  return { text, starts };
}

/** Bytes in UTF-8; those that are none stay as they are written. */
function decodePercents(escapes: string, index: number, starts: number[]): string {
  const bytes = Buffer.from(escapes.replaceAll("%", ""), "hex");
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const length = lengthOfCharacter(bytes, at);
    const decoded = length === 0 ? escapes.slice(at * 3, at * 3 + 3) : bytes.toString("utf8", at, at + length);
    for (let unit = 0; unit < decoded.length; unit++) starts.push(index + at * 3 + (length === 0 ? unit : 0));
    text += decoded;
    at += length || 1;
  }
  return text;
}

/** Of the UTF-8 character at this byte; 0 when there is none. */
export function lengthOfCharacter(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  if (lead < 0x80) return 1;
  const length = lead >= 0xf0 && lead < 0xf5 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead >= 0xf5 || at + length > bytes.length) return 0;
  for (let next = at + 1; next < at + length; next++) if ((bytes[next]! & 0xc0) !== 0x80) return 0;
  return length;
}

export function toSource<P extends Place>(view: DecodedView, place: P): P {
  return { ...place, start: view.starts[place.start]!, end: view.starts[place.end]! };
}

/** The place in the view that covers one of the source; `cut` when it begins inside an escape. */
export function toView(view: DecodedView, { start, end }: Place): Place & { cut: boolean } {
  const first = lastAtMost(view.starts, start);
  let last = lastAtMost(view.starts, end);
  if (view.starts[last]! < end) last++;
  return { start: first, end: last, cut: view.starts[first] !== start };
}

function lastAtMost(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (sorted[middle]! <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
