/** Where a reply goes: a socket, an HTTP/2 stream, a web stream. */
export interface Sink {
  /** False when it is full: then nothing more is written until it drains. */
  write(chunk: string | Uint8Array): boolean;
  end(): void;
  /** Breaks the connection. */
  destroy(): void;
  onDrain(run: () => void): void;
  onClose(run: () => void): void;
}

/** A body that is still on its way here when its head goes out. */
export interface LiveBody {
  /**
   * Sends it on as it arrives, and gives it up when the sink closes.
   * @returns whether anything was written at once
   */
  attach(sink: Sink): boolean;
  /** All of it, where its end is here before anybody has taken any; it is taken by that. */
  takeWhole(): Uint8Array | undefined;
  /** Gives it up: nobody wants it. */
  cancel(): void;
  /** To be told how it ended. */
  onEnding: ((ending: LiveEnding) => void) | undefined;
}

export type LiveEnding = "complete" | "upstream broke off" | "client gone" | "guardrail" | "breaker";

/** A provider's reply as it arrives. */
export interface LiveReply {
  status: number;
  /** Names and values by turns. */
  headers: string[];
  body: LiveBody;
}
