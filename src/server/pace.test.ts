import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ManualClock } from "../state/manual-clock.ts";
import type { Sink } from "../transport/live.ts";
import { type Ending, type PacedBody, pace } from "./pace.ts";

class FakeSink implements Sink {
  readonly written: { atMs: number; text: string }[] = [];
  state: "open" | "ended" | "destroyed" = "open";
  full = false;
  readonly #clock: ManualClock;
  #drain: () => void = () => {};
  #close: () => void = () => {};

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  write(chunk: string | Uint8Array): boolean {
    this.written.push({ atMs: this.#clock.now(), text: String(chunk) });
    return !this.full;
  }
  end(): void {
    this.state = "ended";
  }
  destroy(): void {
    this.state = "destroyed";
  }
  onDrain(run: () => void): void {
    this.#drain = run;
  }
  onClose(run: () => void): void {
    this.#close = run;
  }
  drain(): void {
    this.full = false;
    this.#drain();
  }
  leave(): void {
    this.#close();
  }
}

function start(body: Partial<PacedBody>, prepare?: (sink: FakeSink) => void) {
  const clock = new ManualClock();
  const sink = new FakeSink(clock);
  prepare?.(sink);
  const endings: Ending[] = [];
  pace({ chunks: ["a", "b", "c"], due: Float64Array.of(10, 20, 30), ...body }, sink, clock, (ending) =>
    endings.push(ending),
  );
  return { clock, sink, endings };
}

describe("pace", () => {
  it("writes each chunk at its moment and then ends", () => {
    const { clock, sink, endings } = start({});
    clock.advance(100);
    expect(sink.written).toEqual([
      { atMs: 10, text: "a" },
      { atMs: 20, text: "b" },
      { atMs: 30, text: "c" },
    ]);
    expect(sink.state).toBe("ended");
    expect(endings).toEqual(["complete"]);
  });

  it("writes all at once when there is nothing to wait for", () => {
    const { sink } = start({ due: undefined });
    expect(sink.written).toEqual([{ atMs: 0, text: "abc" }]);
    expect(sink.state).toBe("ended");
  });

  it("holds what is due while the sink is full, sends it in one write when it drains, and shifts no due time", () => {
    const { clock, sink } = start({ chunks: ["a", "b", "c", "d"], due: Float64Array.of(10, 20, 30, 60) }, (one) => {
      one.full = true;
    });
    clock.advance(35);
    sink.drain();
    clock.advance(100);
    expect(sink.written).toEqual([
      { atMs: 10, text: "a" },
      { atMs: 35, text: "bc" },
      { atMs: 60, text: "d" },
    ]);
  });

  it("joins bytes as bytes", () => {
    const { sink } = start({ chunks: [new Uint8Array([104]), "i"], due: undefined });
    expect(sink.written).toEqual([{ atMs: 0, text: "hi" }]);
  });

  it("breaks after the last chunk of a truncated body", () => {
    const { clock, sink, endings } = start({ cut: { truncated: true } });
    clock.advance(100);
    expect(sink.written).toHaveLength(3);
    expect(sink.state).toBe("destroyed");
    expect(endings).toEqual(["truncateAfterChunks"]);
  });

  it("waits with the break of a truncated body until a full sink has drained", () => {
    const { sink, endings } = start({ due: undefined, cut: { truncated: true } }, (one) => {
      one.full = true;
    });
    expect(sink.state).toBe("open");
    sink.drain();
    expect(sink.state).toBe("destroyed");
    expect(endings).toEqual(["truncateAfterChunks"]);
  });

  it("breaks at its moment, also while the sink is full", () => {
    const { clock, sink, endings } = start({ cut: { atMs: 15 } }, (one) => {
      one.full = true;
    });
    clock.advance(100);
    expect(sink.written).toEqual([{ atMs: 10, text: "a" }]);
    expect(sink.state).toBe("destroyed");
    expect(endings).toEqual(["disconnectAfterMs"]);
    expect(clock.now()).toBe(100);
  });

  it("does not break a reply that was over before", () => {
    const { clock, sink, endings } = start({ cut: { atMs: 50 } });
    clock.advance(100);
    expect(sink.state).toBe("ended");
    expect(endings).toEqual(["complete"]);
  });

  it("stops pulling when the client goes", () => {
    const { clock, sink, endings } = start({});
    clock.advance(10);
    sink.leave();
    clock.advance(100);
    expect(sink.written).toHaveLength(1);
    expect(endings).toEqual(["client gone"]);
    expect(clock.pending).toEqual([]);
  });

  it("sends every chunk once, in order, none before it is due, whenever the sink is full", () => {
    const gaps = fc.array(fc.nat(20), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(gaps, fc.array(fc.nat(40), { maxLength: 10 }), (waits, pauses) => {
        let at = 0;
        const due = Float64Array.from(waits, (wait) => {
          at += wait;
          return at;
        });
        const chunks = waits.map((_, index) => `${index},`);
        const { clock, sink } = start({ chunks, due });
        for (const pause of pauses) {
          sink.full = true;
          clock.advance(pause);
          sink.drain();
        }
        clock.advance(10_000);
        expect(sink.written.map((write) => write.text).join("")).toBe(chunks.join(""));
        for (const write of sink.written) {
          for (const index of write.text.split(",").slice(0, -1))
            expect(write.atMs).toBeGreaterThanOrEqual(due[Number(index)]!);
        }
        expect(sink.state).toBe("ended");
      }),
    );
  });
});
