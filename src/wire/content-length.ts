import { asBuffer, MAX_FRAME_BYTES, NOISE_KEPT_BYTES, noiseOf, textOf } from "./byte-text.ts";
import type { FrameDecoder, Framing, Noise } from "./framing.ts";

const LINE_FEED = 10;
// A header line is short; a longer one is output that was never meant as one.
const MAX_HEADER_BYTES = 8 * 1024;

/**
 * Messages behind a `Content-Length` header, as language servers and debug adapters have it
 * (https://microsoft.github.io/language-server-protocol/specifications/base/0.9/specification/). The length counts
 * bytes, not characters.
 */
export const contentLength: Framing = {
  name: "content-length",
  encode: (text) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  decoder: (maxBytes = MAX_FRAME_BYTES) => new ContentLengthDecoder(maxBytes),
};

class ContentLengthDecoder implements FrameDecoder {
  private pending: Buffer[] = [];
  private pendingBytes = 0;
  /** Bytes of the body that is being read; undefined while headers are. */
  private bodyBytes: number | undefined;
  private headerLength: number | undefined;
  private skipBytes = 0;
  private readonly maxBytes: number;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  push(chunk: Uint8Array): (string | Noise)[] {
    const frames: (string | Noise)[] = [];
    let buffer = asBuffer(chunk);
    if (this.skipBytes > 0) {
      const skipped = Math.min(this.skipBytes, buffer.length);
      this.skipBytes -= skipped;
      buffer = buffer.subarray(skipped);
    }
    if (buffer.length > 0) this.pending.push(buffer);
    this.pendingBytes += buffer.length;
    // A body is joined once all of it is there: joining at each chunk costs quadratic time.
    if (this.pendingBytes < (this.bodyBytes ?? 1)) return frames;
    this.read(frames);
    return frames;
  }

  end(): (string | Noise)[] {
    const left = Buffer.concat(this.pending);
    const cut = this.bodyBytes;
    this.pending = [];
    this.pendingBytes = 0;
    this.bodyBytes = undefined;
    if (cut !== undefined) return [noiseOf(left, `it ends after ${left.length} of ${cut} bytes`)];
    return left.toString("latin1").trim() === "" ? [] : [noiseOf(left, "it is no header")];
  }

  private read(frames: (string | Noise)[]): void {
    let buffer = this.pending.length === 1 ? (this.pending[0] as Buffer) : Buffer.concat(this.pending);
    for (;;) {
      if (this.bodyBytes !== undefined) {
        if (buffer.length < this.bodyBytes) break;
        frames.push(textOf(buffer.subarray(0, this.bodyBytes)));
        buffer = buffer.subarray(this.bodyBytes);
        this.bodyBytes = undefined;
        continue;
      }
      const end = buffer.indexOf(LINE_FEED);
      if (end < 0) {
        if (buffer.length > MAX_HEADER_BYTES) {
          frames.push(noiseOf(buffer, "it is no header"));
          buffer = Buffer.alloc(0);
        }
        break;
      }
      buffer = this.readHeaderLine(buffer, end, frames);
    }
    this.pending = buffer.length > 0 ? [buffer] : [];
    this.pendingBytes = buffer.length;
  }

  /** Reads the line that ends at `end` and gives back what follows it. */
  private readHeaderLine(buffer: Buffer, end: number, frames: (string | Noise)[]): Buffer {
    const rest = buffer.subarray(end + 1);
    const line = buffer.toString("latin1", 0, end).trim();
    if (line === "") {
      const length = this.headerLength;
      this.headerLength = undefined;
      if (length === undefined) return rest;
      if (length <= this.maxBytes) {
        this.bodyBytes = length;
        return rest;
      }
      frames.push(
        noiseOf(
          rest.subarray(0, NOISE_KEPT_BYTES),
          `it is a body of ${length} bytes, and ${this.maxBytes} is the limit`,
        ),
      );
      const skipped = Math.min(length, rest.length);
      this.skipBytes = length - skipped;
      return rest.subarray(skipped);
    }
    const length = /^content-length\s*:\s*(\d+)$/i.exec(line);
    if (length) this.headerLength = Number(length[1]);
    else if (!/^content-[\w-]+\s*:/i.test(line)) frames.push(noiseOf(buffer.subarray(0, end), "it is no header"));
    return rest;
  }
}
