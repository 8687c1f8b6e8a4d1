import { contentLength } from "./content-length.ts";
import type { Framing, FramingName } from "./framing.ts";
import { jsonLines } from "./json-lines.ts";

export const framings: Readonly<Record<FramingName, Framing>> = { lines: jsonLines, "content-length": contentLength };

/** The framing that the first bytes of a stream show; undefined while there are only blanks. */
export function detectFraming(bytes: Uint8Array): Framing | undefined {
  for (const byte of bytes) {
    if (byte === 32 || byte === 9 || byte === 10 || byte === 13) continue;
    return byte === 0x43 || byte === 0x63 ? contentLength : jsonLines;
  }
  return undefined;
}
