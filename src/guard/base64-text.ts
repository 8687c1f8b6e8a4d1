import { isUtf8 } from "node:buffer";
import type { Place } from "./detector.ts";

/** A run of base64 that holds a text. */
export interface Base64Text extends Place {
  text: string;
  /** Writes another text in the same alphabet, padded if this one is. */
  encode(text: string): string;
}

/** Shorter ones cannot hold a secret that is worth the time. */
export const SHORTEST_BASE64 = 10;

const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
export const BASE64_CHARACTERS = `${ALPHANUMERIC}+/-_`;

const NOT_BASE64 = 64;
const CONTROL = /[\0-\x08\x0e-\x1f\x7f]/;

const SEXTETS = new Uint8Array(128).fill(NOT_BASE64);
for (const alphabet of ["+/", "-_"]) {
  const characters = ALPHANUMERIC + alphabet;
  for (let at = 0; at < 64; at++) SEXTETS[characters.charCodeAt(at)] = at;
}

/**
 * All runs of base64 or base64url that decode to text. Images, sounds, signatures and words are given up after a few
 * characters. A slash may also end what stands before a run (a path), so the parts behind slashes are tried too.
 */
export function base64Texts(text: string): Base64Text[] {
  const texts: Base64Text[] = [];
  for (let index = 0; index < text.length; index++) {
    let end = index;
    while (end < text.length && isBase64(text.charCodeAt(end))) end++;
    if (end - index < SHORTEST_BASE64) {
      index = end;
      continue;
    }
    for (let padding = 0; padding < 2 && text[end] === "="; padding++) end++;
    const run = text.slice(index, end);
    for (let from = 0, tries = 0; tries < 8 && run.length - from >= SHORTEST_BASE64; tries++) {
      const decoded = decode(from === 0 ? run : run.slice(from));
      if (decoded !== undefined) {
        texts.push({ start: index + from, end, text: decoded, encode: encoderLike(run) });
        break;
      }
      from = run.indexOf("/", from) + 1;
      if (from === 0) break;
    }
    index = end;
  }
  return texts;
}

/** A quick look at a run of base64's characters, with false alarms but no omission. */
export function mayBeBase64Text(text: string, start: number, end: number): boolean {
  if (beginsAsText(text, start, end)) return true;
  for (let at = start; at < end; at++) if (text.charCodeAt(at) === SLASH) return true;
  return false;
}

/**
 * Where in a run of base64 that is not over the base64 of a text may begin: at its beginning, or behind a slash.
 * Undefined where it is none, however it goes on.
 */
export function mayBeginBase64Text(text: string, start: number, end: number): number | undefined {
  for (let from = start, tries = 0; tries < 8; tries++) {
    if (beginsAsText(text, from, end)) return from;
    from = text.indexOf("/", from) + 1;
    if (from === 0 || from > end) return undefined;
  }
  return undefined;
}

const SLASH = 47;

function isBase64(code: number): boolean {
  return code < 128 && SEXTETS[code]! < NOT_BASE64;
}

function decode(run: string): string | undefined {
  if (!beginsAsText(run, 0, run.length)) return undefined;
  const bytes = Buffer.from(run, "base64");
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString("utf8");
  return CONTROL.test(text) ? undefined : text;
}

/** Whether the first dozen bytes could be text, without an allocation: most runs are no base64 of text. */
function beginsAsText(text: string, start: number, end: number): boolean {
  let wanted = 0;
  for (let at = start; at + 3 < end && at < start + 16; at += 4) {
    const third = SEXTETS[text.charCodeAt(at + 2)]!;
    const fourth = SEXTETS[text.charCodeAt(at + 3)]!;
    const quad =
      (SEXTETS[text.charCodeAt(at)]! << 18) |
      (SEXTETS[text.charCodeAt(at + 1)]! << 12) |
      ((third & 63) << 6) |
      (fourth & 63);
    const lowest = third === NOT_BASE64 ? 16 : fourth === NOT_BASE64 ? 8 : 0;
    for (let shift = 16; shift >= lowest; shift -= 8) {
      const byte = (quad >> shift) & 255;
      if (wanted > 0) {
        if ((byte & 0xc0) !== 0x80) return false;
        wanted--;
      } else if (byte < 0x80) {
        if ((byte < 32 && (byte < 9 || byte > 13)) || byte === 127) return false;
      } else if (byte < 0xc2 || byte > 0xf4) return false;
      else wanted = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
    }
  }
  return true;
}

function encoderLike(run: string): (text: string) => string {
  return (text) => {
    const encoded = Buffer.from(text, "utf8").toString("base64");
    const unpadded = run.endsWith("=") ? encoded : encoded.replace(/=+$/, "");
    return /[-_]/.test(run) ? unpadded.replaceAll("+", "-").replaceAll("/", "_") : unpadded;
  };
}
