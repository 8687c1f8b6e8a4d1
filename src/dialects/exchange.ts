import type { Call } from "./operation.ts";
import type { RawRequest } from "./raw-request.ts";

/** A piece of a reply's body as it arrived. */
export interface ArrivedChunk {
  /** Since the request was sent. */
  atMs: number;
  bytes: Uint8Array;
}

/**
 * - `complete`: to its end, or to its terminal event
 * - `truncated`: the provider ended or broke it off before its terminal event
 * - `cut`: the client went away before its terminal event
 */
export type ExchangeEnding = "complete" | "truncated" | "cut";

/** A reply that was cut on its way, as an exception would say it. */
export interface ExchangeCut {
  type: string;
  message: string;
}

/** One call as it went to a provider and came back: what every kind of recorded tape is made of. */
export interface Exchange {
  provider: string;
  /** As the client sent it. */
  raw: RawRequest;
  /** Names and values by turns of the headers that it went on with, a key that was put in among them. */
  sentHeaders?: readonly string[];
  /** The call, as far as a dialect could decode the request. */
  call: Call;
  /** Unix time in milliseconds. */
  sentAtMs: number;
  status: number;
  /** In the order in which they came, less those of the connection, and without the coding of the body. */
  headers: [name: string, value: string][];
  /** Decompressed. */
  chunks: ArrivedChunk[];
  ending: ExchangeEnding;
  /** Bytes of the body, as it was sent, that were not kept because it was too long. */
  droppedBytes: number;
  /** Since the request was sent, until the last byte. */
  totalMs: number;
  /** What kept the body from being decompressed to its end. */
  fault?: string;
  /** Why a guard let nothing more through; with an event of ours at the end where the dialect has one. */
  cut?: ExchangeCut;
}
