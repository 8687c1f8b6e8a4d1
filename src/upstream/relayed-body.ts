import type { LiveBody, LiveEnding, Sink } from "../transport/live.ts";

/** The call behind a reply, as far as its reader can slow it down or end it. */
export interface Source {
  pause(): void;
  resume(): void;
  abort(): void;
}

/** A body that is sent on as it arrives. What comes before somebody takes it is kept; what they cannot take waits. */
export class RelayedBody implements LiveBody {
  onEnding: LiveBody["onEnding"] = undefined;
  readonly #source: Source;
  #queue: Uint8Array[] = [];
  #sink: Sink | undefined;
  #over: "end" | "broken" | undefined;
  #ending: LiveEnding = "complete";
  #closed = false;

  constructor(source: Source) {
    this.#source = source;
  }

  push(chunk: Uint8Array): void {
    if (this.#closed) return;
    if (this.#sink === undefined) this.#queue.push(chunk);
    else if (!this.#sink.write(chunk)) this.#source.pause();
  }

  /**
   * @param how whether the body is complete, or its connection broke
   * @param ending why, where it is not the provider's doing
   */
  finish(how: "end" | "broken", ending: LiveEnding = how === "end" ? "complete" : "upstream broke off"): void {
    if (this.#over !== undefined) return;
    this.#over = how;
    this.#ending = ending;
    if (this.#sink !== undefined) this.#close(this.#sink, how);
  }

  attach(sink: Sink): boolean {
    this.#sink = sink;
    sink.onClose(() => {
      if (this.#closed) return;
      this.#closed = true;
      this.onEnding?.("client gone");
      this.#source.abort();
    });
    sink.onDrain(() => this.#source.resume());
    const queue = this.#queue;
    this.#queue = [];
    let full = false;
    for (const chunk of queue) full = !sink.write(chunk) || full;
    if (full) this.#source.pause();
    if (this.#over !== undefined) this.#close(sink, this.#over);
    return queue.length > 0 || this.#over !== undefined;
  }

  takeWhole(): Uint8Array | undefined {
    if (this.#over !== "end" || this.#closed) return undefined;
    this.#closed = true;
    this.onEnding?.(this.#ending);
    return this.#queue.length === 1 ? this.#queue[0]! : Buffer.concat(this.#queue);
  }

  cancel(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#queue = [];
    if (this.#over === undefined) this.#source.abort();
  }

  #close(sink: Sink, how: "end" | "broken"): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onEnding?.(this.#ending);
    if (how === "end") sink.end();
    else sink.destroy();
  }
}
