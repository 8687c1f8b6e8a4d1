import type { Transform } from "node:stream";
import { blocked, type GateCut, type GateStep, type ResponseGate } from "../guard/gate.ts";
import type { GuardHit } from "../guard/guardrails.ts";
import type { UpstreamEvents } from "./client.ts";
import { DECODABLE, decoderOf } from "./decode.ts";
import { type HeaderList, headerOf } from "./headers.ts";

/** What a provider's reply has to go through. */
export interface ReplyGuard {
  /** Made when the head of the reply is there. */
  open(status: number, contentType: string | undefined): ResponseGate;
  /** When it is cut if no head comes, since the request; never for none. */
  readonly dueMs: number;
  expire(): GateCut;
  /** Told of what was found, and of the end that was made. */
  told(hits: readonly GuardHit[], cut: GateCut | undefined): void;
  /** The event that tells the client; undefined where its provider has none. */
  event(cut: GateCut, sent: number): Uint8Array | undefined;
}

/** What becomes of a reply behind its guard: as `UpstreamEvents`, or `cut` in the place of `end`. */
export interface ReplyEvents extends UpstreamEvents {
  /** Before the head, if nothing of the reply may pass. */
  cut(cut: GateCut, event: Uint8Array | undefined): void;
}

/** Time since the request, in milliseconds. */
export interface ReplyTime {
  elapsed(): number;
  /** Runs something at that time; gives what calls it off. */
  at(atMs: number, run: () => void): () => void;
}

/** About a body that is not sent on as it came. */
const OF_THE_BODY = new Set(["content-length", "content-encoding"]);

/** A reply on its way through its guard. */
export class GuardedReply implements UpstreamEvents {
  readonly #guard: ReplyGuard;
  readonly #events: ReplyEvents;
  readonly #time: ReplyTime;
  #gate: ResponseGate | undefined;
  /** Of the body, where it has one. */
  #coding: string | undefined;
  #decoder: Transform | undefined;
  /** Sends the head, if that has not been done. */
  #head: (() => void) | undefined;
  #over = false;
  #disarm: () => void = () => {};

  constructor(guard: ReplyGuard, events: ReplyEvents, time: ReplyTime) {
    this.#guard = guard;
    this.#events = events;
    this.#time = time;
    this.#arm();
  }

  head(status: number, headers: HeaderList): void {
    if (this.#over) return;
    const coding = (headerOf(headers, "content-encoding") ?? "identity").trim().toLowerCase();
    if (coding !== "identity" && coding !== "") {
      if (!DECODABLE.has(coding)) {
        this.#take({
          out: [],
          hits: [],
          cut: blocked(`Guardrail Block: the response is ${coding}, which nobody here can read.`),
        });
        return;
      }
      this.#coding = coding;
    }
    const gate = this.#guard.open(status, headerOf(headers, "content-type"));
    this.#gate = gate;
    this.#head = () =>
      this.#events.head(
        status,
        headers.filter((_, at) => !OF_THE_BODY.has(headers[at - (at % 2)]!)),
      );
    if (!gate.isWhole) this.#sendHead();
    this.#arm();
  }

  data(chunk: Uint8Array): void {
    if (this.#over) return;
    if (this.#coding === undefined) this.#push(chunk);
    else if (chunk.byteLength > 0) {
      this.#decoder ??= this.#open(this.#coding, chunk);
      this.#decoder.write(chunk);
    }
  }

  end(): void {
    if (this.#over) return;
    if (this.#decoder === undefined) this.#end();
    else this.#decoder.end();
  }

  fail(error: Error): void {
    if (this.#over) return;
    // What waits for more that does not come is all there is; of what is no stream, nothing is any use.
    if (this.#gate?.isWhole === false) this.#take(this.#gate.end(this.#time.elapsed()));
    else this.#gate?.giveUp(this.#time.elapsed());
    if (this.#over) return;
    this.#finish();
    this.#events.fail(error);
  }

  #open(coding: string, first: Uint8Array): Transform {
    const decoder = decoderOf(coding, first);
    decoder.on("data", (bytes: Buffer) => this.#push(bytes));
    decoder.on("end", () => this.#end());
    decoder.on("error", (error) => this.fail(error));
    return decoder;
  }

  #push(bytes: Uint8Array): void {
    if (this.#over) return;
    this.#take(this.#gate!.push(bytes, this.#time.elapsed()));
    this.#arm();
  }

  #end(): void {
    if (this.#over) return;
    this.#take(this.#gate!.end(this.#time.elapsed()));
    if (this.#over) return;
    this.#finish();
    this.#sendHead();
    this.#events.end();
  }

  #take({ out, hits, cut }: GateStep): void {
    this.#guard.told(hits, cut);
    if (out.length > 0) {
      this.#sendHead();
      this.#events.data(out.length === 1 ? out[0]! : Buffer.concat(out));
    }
    if (cut === undefined) return;
    this.#finish();
    const begun = this.#gate !== undefined && this.#head === undefined;
    this.#events.cut(cut, begun ? this.#guard.event(cut, this.#gate!.sent) : undefined);
  }

  #sendHead(): void {
    const head = this.#head;
    this.#head = undefined;
    head?.();
  }

  #finish(): void {
    this.#over = true;
    this.#disarm();
    this.#decoder?.destroy();
  }

  /** Cuts the reply when its time is up. */
  #arm(): void {
    this.#disarm();
    if (this.#over) return;
    const { dueMs } = this.#gate ?? this.#guard;
    if (dueMs === Number.POSITIVE_INFINITY) return;
    this.#disarm = this.#time.at(dueMs, () => {
      const step = this.#gate?.expire(this.#time.elapsed()) ?? { out: [], hits: [], cut: this.#guard.expire() };
      this.#take(step);
    });
  }
}
