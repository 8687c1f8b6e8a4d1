import type { ArrivedChunk, Exchange, ExchangeCut, ExchangeEnding } from "../dialects/exchange.ts";
import type { Call } from "../dialects/operation.ts";
import type { Clock } from "../state/clock.ts";
import { type HeaderList, headerOf, headerPairs } from "./headers.ts";

/** Makes a tape of a call. Asked for one when the head of the reply has arrived; never throws, nor does its tape. */
export interface TapeMaker {
  begin(call: Call, provider: string): Tape;
  /** Told of a call that no reply began to. */
  failed?(call: Call, provider: string, failure: UpstreamFailure): void;
}

/** Why a provider did not begin to answer. */
export interface UpstreamFailure {
  /** As an exception would be called. */
  type: string;
  message: string;
  /** Unix time in milliseconds. */
  sentAtMs: number;
  totalMs: number;
}

export interface Tape {
  /** Never rejects: what cannot be written is told elsewhere. */
  write(exchange: Exchange | Promise<Exchange>): void;
}

interface TapHead {
  call: Call;
  sentHeaders: HeaderList;
  provider: string;
  /** Unix time in milliseconds. */
  sentAtMs: number;
  status: number;
  headers: HeaderList;
}

/** Keeps a copy of a reply as it passes, up to a limit, and makes it a tape when it is over. */
export class Tap {
  tape: Tape | undefined;
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #head: TapHead;
  /** On the clock. */
  readonly #sent: number;
  readonly #chunks: ArrivedChunk[] = [];
  #kept = 0;
  #dropped = 0;

  constructor(clock: Clock, limit: number, head: TapHead, sent: number) {
    this.#clock = clock;
    this.#limit = limit;
    this.#head = head;
    this.#sent = sent;
  }

  add(chunk: Uint8Array): void {
    const { byteLength } = chunk;
    // What follows a gap would be read as if it belonged to what is before it.
    if (this.#dropped > 0 || this.#kept + byteLength > this.#limit) {
      this.#dropped += byteLength;
      return;
    }
    this.#kept += byteLength;
    // A piece may be a view of a buffer that is far larger, which would be kept with it.
    const bytes = byteLength * 2 < chunk.buffer.byteLength ? Uint8Array.from(chunk) : chunk;
    this.#chunks.push({ atMs: this.#elapsed(), bytes });
  }

  /** @param cut why a guard let nothing more through */
  finish(ending: ExchangeEnding, cut?: ExchangeCut): void {
    const { tape } = this;
    this.tape = undefined;
    if (tape === undefined) return;
    const totalMs = this.#elapsed();
    const { call, headers, ...head } = this.#head;
    const exchange: Exchange = {
      ...head,
      call,
      raw: call.raw,
      headers: headerPairs(headers),
      chunks: this.#chunks,
      ending,
      droppedBytes: this.#dropped,
      totalMs,
      ...(cut !== undefined && { cut }),
    };
    const coding = (headerOf(headers, "content-encoding") ?? "identity").trim().toLowerCase();
    if (coding === "identity" || coding === "") tape.write(exchange);
    else tape.write(import("./decode.ts").then(({ decoded }) => decoded(exchange, coding)));
  }

  #elapsed(): number {
    return this.#clock.now() - this.#sent;
  }
}
