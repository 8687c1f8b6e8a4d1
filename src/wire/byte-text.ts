import { isUtf8 } from "node:buffer";
import type { Noise } from "./framing.ts";

/** The longest frame that is taken unless said otherwise: 64 MiB. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** How much of what is no frame is kept for the report. */
export const NOISE_KEPT_BYTES = 1024;

/** A frame's text, or noise where the bytes are no UTF-8: decoding those would turn different bytes into the same text. */
export function textOf(bytes: Buffer): string | Noise {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  return noiseOf(bytes, "it is no UTF-8");
}

export function noiseOf(bytes: Buffer, reason: string): Noise {
  return { noise: bytes.subarray(0, NOISE_KEPT_BYTES).toString("utf8"), reason };
}

export function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
