import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Frame } from "../chat/frames.ts";
import type { ChatReply } from "../chat/reply.ts";
import { replyOf, streamTimeline, timelineText, unaryTimeline } from "./timeline.ts";
import type { Trace } from "./types.ts";

const delta = (atMs: number, value: string): Frame => ({
  atMs,
  choice: 0,
  part: 0,
  event: { type: "delta", field: "text", value },
});
const FINISH = { reason: "stop", native: { dialect: "own", value: "done" } };
const finish = (atMs: number): Frame => ({ atMs, choice: 0, part: -1, event: { type: "finish", finish: FINISH } });
const replySaying = (text: string): ChatReply => ({
  choices: [{ parts: [{ type: "text", text }], finish: FINISH }],
});

function timelineOf(pieces: readonly [number, string][], tickMs: number, endMs?: number) {
  const frames = pieces.map(([atMs, text]) => delta(atMs, text));
  if (endMs !== undefined) frames.push(finish(endMs));
  return streamTimeline(frames, replySaying(pieces.map(([, text]) => text).join("")), tickMs);
}

describe("the timeline of a stream", () => {
  it("joins what comes within a tick, holds the first frame never, and waits at the end for nothing", () => {
    const pieces: [number, string][] = [
      [10, "a"],
      [50, "b"],
      [109, "c"],
      [110, "d"],
      [150, "e"],
      [400, "f"],
      [420, "g"],
    ];
    expect(timelineOf(pieces, 100, 430)).toEqual([
      { delta_ms: 10, chunk: "a" },
      { delta_ms: 100, chunk: "bcd" },
      { delta_ms: 290, chunk: "ef" },
      { delta_ms: 30, chunk: "g", finish_reason: "done" },
    ]);
    expect(timelineOf(pieces, 0, 430).map(({ chunk }) => chunk)).toEqual(["a", "b", "c", "d", "e", "f", "g", ""]);
    // Cut before its end: what was held comes when it had come.
    expect(timelineOf(pieces, 100).at(-1)).toEqual({ delta_ms: 20, chunk: "g" });
  });

  it("says all of the text in its order, and its times add up, whatever the tick", () => {
    const piece = fc.tuple(fc.nat(2000), fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 }));
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 30 }), fc.nat(500), (unordered, tickMs) => {
        const pieces = unordered.toSorted(([one], [other]) => one - other);
        const endMs = pieces.at(-1)![0] + 7;
        const timeline = timelineOf(pieces, tickMs, endMs);
        expect(timelineText(timeline)).toBe(pieces.map(([, text]) => text).join(""));
        expect(timeline[0]).toMatchObject({ delta_ms: pieces[0]![0], chunk: pieces[0]![1] });
        expect(timeline.reduce((sum, { delta_ms: ms }) => sum + ms, 0)).toBeCloseTo(endMs);
        expect(timeline.filter((frame) => frame.finish_reason !== undefined)).toEqual([timeline.at(-1)]);
        // Every frame but the first and the last has waited out the tick.
        for (const { delta_ms: ms } of timeline.slice(1, -1)) expect(ms).toBeGreaterThanOrEqual(tickMs);
      }),
    );
  });
});

describe("a timeline as a reply", () => {
  it("is the reply that it was made of", () => {
    const call = fc.record({ name: fc.string({ minLength: 1 }), input: fc.dictionary(fc.string(), fc.jsonValue()) });
    fc.assert(
      fc.property(
        fc.string(),
        fc.array(call, { maxLength: 3 }),
        fc.nat(),
        fc.nat(),
        (text, calls, prompt, completion) => {
          const reply: ChatReply = {
            choices: [
              {
                parts: [
                  ...(text !== "" || calls.length === 0 ? [{ type: "text" as const, text }] : []),
                  ...calls.map(({ name, input }, index) => ({
                    type: "toolCall" as const,
                    id: `call_${index}`,
                    name,
                    arguments: JSON.stringify(input),
                  })),
                ],
                finish: { reason: calls.length > 0 ? "tool_calls" : "stop" },
              },
            ],
            usage: { promptTokens: prompt, completionTokens: completion, totalTokens: prompt + completion },
          };
          const trace = {
            response_timeline: unaryTimeline(reply),
            usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
          } as Trace;
          expect(replyOf(trace, {})).toEqual(reply);
        },
      ),
    );
  });
});
