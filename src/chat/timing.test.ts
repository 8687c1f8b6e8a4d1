import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dueTimes, type Timing } from "./timing.ts";

const half = (): number => 0.5;
const due = (chunks: number, timing: Timing, random = half): number[] => [...(dueTimes(chunks, timing, random) ?? [])];

const ms = fc.integer({ min: 0, max: 10_000 });
const timings: fc.Arbitrary<Timing> = fc.record(
  {
    latencyMs: ms,
    streamingProfile: fc.record(
      {
        ttft: ms,
        tps: fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 1000, noNaN: true })),
        jitter: fc.double({ min: 0, max: 1, noNaN: true }),
      },
      { requiredKeys: [] },
    ),
    recordedTimings: fc.record(
      { ttftMs: ms, interChunkDelaysMs: fc.array(ms, { maxLength: 8 }), totalDurationMs: ms },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);
const chunks = fc.integer({ min: 1, max: 40 });

describe("dueTimes", () => {
  it("puts latency before each chunk, the first too", () => {
    expect(due(3, { latencyMs: 10 })).toEqual([10, 20, 30]);
    expect(dueTimes(3, { latencyMs: 0 }, half)).toBeUndefined();
  });

  it("takes the time to the first chunk and the pace of a profile", () => {
    expect(due(3, { streamingProfile: { ttft: 200, tps: 20 } })).toEqual([200, 250, 300]);
    expect(due(3, { streamingProfile: { tps: 20 } })).toEqual([50, 100, 150]);
    expect(due(2, { streamingProfile: { ttft: 100, jitter: 0.1 } }, () => 0)).toEqual([90, 90]);
  });

  it("repeats the recorded delays, and the last one for what is beyond them", () => {
    expect(due(5, { recordedTimings: { ttftMs: 100, interChunkDelaysMs: [10, 20] } })).toEqual([
      100, 110, 130, 150, 170,
    ]);
    expect(due(2, { recordedTimings: { ttftMs: 100 } })).toEqual([100, 100]);
  });

  it("spreads a recorded total where nothing else is known, and gives all of it to a reply in one piece", () => {
    expect(due(4, { recordedTimings: { totalDurationMs: 400 } })).toEqual([100, 200, 300, 400]);
    expect(due(3, { recordedTimings: { ttftMs: 100, totalDurationMs: 300 } })).toEqual([100, 200, 300]);
    expect(due(1, { recordedTimings: { ttftMs: 100, interChunkDelaysMs: [50], totalDurationMs: 300 } })).toEqual([300]);
    expect(due(1, { recordedTimings: { ttftMs: 100 } })).toEqual([100]);
  });

  it("prefers a profile to a recording, and that to latency", () => {
    fc.assert(
      fc.property(timings, chunks, (timing, count) => {
        const { streamingProfile, recordedTimings, latencyMs } = timing;
        const winner: Timing =
          streamingProfile !== undefined
            ? { streamingProfile }
            : recordedTimings !== undefined
              ? { recordedTimings }
              : latencyMs !== undefined
                ? { latencyMs }
                : {};
        expect(due(count, timing)).toEqual(due(count, winner));
      }),
    );
  });

  it("divides every delay by the replay speed", () => {
    fc.assert(
      fc.property(timings, chunks, fc.double({ min: 0.01, max: 1000, noNaN: true }), (timing, count, replaySpeed) => {
        const plain = due(count, timing);
        const fast = due(count, { ...timing, replaySpeed });
        expect(fast).toHaveLength(plain.length);
        for (const [index, at] of fast.entries()) expect(at * replaySpeed).toBeCloseTo(plain[index]!, 3);
      }),
    );
  });

  it("never goes back in time, whatever the jitter and however odd the recording", () => {
    const odd = fc.record(
      { ttftMs: fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }), totalDurationMs: ms },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          timings,
          odd.map((recordedTimings): Timing => ({ recordedTimings })),
        ),
        chunks,
        fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
        (timing, count, numbers) => {
          const random = (): number => numbers.next().value;
          let before = 0;
          for (const at of due(count, timing, random)) {
            expect(at).toBeGreaterThanOrEqual(before);
            before = at;
          }
        },
      ),
    );
  });

  it("keeps each delay of a jittered stream within its share", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (jitter, drawn) => {
          const times = due(10, { streamingProfile: { ttft: 100, tps: 10, jitter } }, () => drawn);
          let before = 0;
          for (const at of times) {
            expect(at - before).toBeGreaterThanOrEqual(100 * (1 - jitter) - 1e-6);
            expect(at - before).toBeLessThanOrEqual(100 * (1 + jitter) + 1e-6);
            before = at;
          }
        },
      ),
    );
  });
});
