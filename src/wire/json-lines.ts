import { asBuffer, MAX_FRAME_BYTES, NOISE_KEPT_BYTES, noiseOf, textOf } from "./byte-text.ts";
import type { FrameDecoder, Framing, Noise } from "./framing.ts";

const LINE_FEED = 10;

/**
 * One message a line, as JSON-RPC over stdio has it. Only a line feed ends a line: U+2028 and a lone carriage return
 * are text, although many line readers split there. A blank line is nothing.
 */
export const jsonLines: Framing = {
  name: "lines",
  encode: (text) => `${text}\n`,
  decoder: (maxBytes = MAX_FRAME_BYTES) => new JsonLinesDecoder(maxBytes),
};

class JsonLinesDecoder implements FrameDecoder {
  // The parts of a line that is not over yet are joined once, when it is: joining at each chunk costs quadratic time.
  private parts: Buffer[] = [];
  private bytes = 0;
  private readonly maxBytes: number;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  push(chunk: Uint8Array): (string | Noise)[] {
    const buffer = asBuffer(chunk);
    const frames: (string | Noise)[] = [];
    let start = 0;
    for (let end = buffer.indexOf(LINE_FEED); end >= 0; end = buffer.indexOf(LINE_FEED, start)) {
      this.keep(buffer.subarray(start, end));
      this.finish(frames);
      start = end + 1;
    }
    this.keep(buffer.subarray(start));
    return frames;
  }

  end(): (string | Noise)[] {
    const frames: (string | Noise)[] = [];
    this.finish(frames);
    return frames;
  }

  private keep(part: Buffer): void {
    if (part.length === 0) return;
    this.bytes += part.length;
    if (this.bytes <= this.maxBytes) this.parts.push(part);
    // Of a line that is too long only what a report shows is kept, or a peer could fill the memory.
    else if (this.parts.length > 0) this.parts = [Buffer.from(Buffer.concat(this.parts).subarray(0, NOISE_KEPT_BYTES))];
    else this.parts.push(Buffer.from(part.subarray(0, NOISE_KEPT_BYTES)));
  }

  private finish(frames: (string | Noise)[]): void {
    const { parts, bytes } = this;
    this.parts = [];
    this.bytes = 0;
    if (bytes === 0) return;
    const line = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    if (bytes > this.maxBytes) {
      frames.push(noiseOf(line, `it is a line of ${bytes} bytes, and ${this.maxBytes} is the limit`));
      return;
    }
    const text = textOf(line);
    if (typeof text !== "string" || text.trim() !== "") frames.push(text);
  }
}
