import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RepeatedText } from "./repeated-text.ts";

/** Whether some text of at least so many characters comes more than so many times in a row, found the long way. */
function repeats(text: string, times: number, least: number): boolean {
  for (let start = 0; start < text.length; start++) {
    for (let unit = least; start + unit * (times + 1) <= text.length; unit++) {
      const one = text.slice(start, start + unit);
      if (text.startsWith(one.repeat(times + 1), start)) return true;
    }
  }
  return false;
}

describe("repeated text", () => {
  const few = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 40 });
  const looping = fc.tuple(
    few,
    fc.string({ unit: fc.constantFrom("a", "b", "c", " "), minLength: 1, maxLength: 9 }),
    fc.integer({ min: 1, max: 9 }),
    few,
  );

  it("is found at the very piece that is one too many, whatever the pieces", () => {
    fc.assert(
      fc.property(
        looping,
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.integer({ min: 1, max: 12 })),
        ([before, unit, count, after], times, minCharacters, lengths) => {
          const text = before + unit.repeat(count) + after;
          const repeated = new RepeatedText({ times, minCharacters });
          let at = 0;
          let found = false;
          for (let turn = 0; at < text.length && !found; turn++) {
            const length = lengths[turn % Math.max(1, lengths.length)] ?? 5;
            found = repeated.push(text.slice(at, at + length));
            at += length;
            expect([text.slice(0, at), found]).toEqual([
              text.slice(0, at),
              repeats(text.slice(0, at), times, minCharacters),
            ]);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it("is not found in what a person writes", () => {
    const repeated = new RepeatedText({ times: 3 });
    const lines = Array.from({ length: 200 }, (_, index) => `${index}. This line has the number ${index * 7}.\n`);
    expect(lines.some((line) => repeated.push(line))).toBe(false);
  });

  it("is waited for in a long text that repeats itself within a wide limit", () => {
    const repeated = new RepeatedText({ times: 1300 });
    const turns = Array.from({ length: 2700 }, () => "some words ".slice(0, 10));
    // Two turns are one text of at least 20 characters.
    expect(turns.findIndex((turn) => repeated.push(turn)) + 1).toBe(2 * 1301);
  });
});
