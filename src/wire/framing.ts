/** Bytes that belong to no frame, so that what a peer wrote by mistake can be shown instead of being lost. */
export interface Noise {
  noise: string;
  reason: string;
}

/** Takes bytes as they come, split anywhere, and gives back the frames that are complete. */
export interface FrameDecoder {
  push(chunk: Uint8Array): (string | Noise)[];
  /** The stream is over: what is left. */
  end(): (string | Noise)[];
}

/** How messages are told apart on a stream of bytes. */
export interface Framing {
  readonly name: FramingName;
  encode(text: string): string;
  /** `maxBytes`: a longer frame is noise, and is not kept in memory. */
  decoder(maxBytes?: number): FrameDecoder;
}

export type FramingName = "lines" | "content-length";
