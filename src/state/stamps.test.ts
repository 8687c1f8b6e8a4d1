import { describe, expect, it } from "vitest";
import { ManualClock } from "./manual-clock.ts";
import { FreshStamps, SeededStamps } from "./stamps.ts";

describe("FreshStamps", () => {
  it("gives ids of twenty letters and digits, each another, and the time of the clock", () => {
    const clock = new ManualClock(1_700_000_000_900);
    const stamps = new FreshStamps(clock);
    const ids = Array.from({ length: 1000 }, () => stamps.next().id);
    expect(new Set(ids).size).toBe(1000);
    for (const id of ids) expect(id).toMatch(/^[0-9A-Za-z]{20}$/);
    expect(stamps.next().created).toBe(1_700_000_000);
    expect(new FreshStamps(clock).next().id).not.toBe(ids[0]);
  });
});

describe("SeededStamps", () => {
  const draw = (stamps: SeededStamps, testId: string, tape: string): unknown => {
    const { id, created, random } = stamps.next(testId, tape);
    return [id, created, random()];
  };

  it("depends on seed, test id, tape and count, and on nothing else", () => {
    const one = new SeededStamps(7);
    const other = new SeededStamps(7);
    const expected = [draw(one, "a", "f"), draw(one, "a", "f"), draw(one, "b", "f")];
    // Other calls between them change nothing.
    draw(other, "c", "f");
    const first = draw(other, "a", "f");
    draw(other, "a", "g");
    expect([first, draw(other, "a", "f"), draw(other, "b", "f")]).toEqual(expected);
    expect(new Set(expected.map((drawn) => JSON.stringify(drawn))).size).toBe(3);
    expect(draw(new SeededStamps(8), "a", "f")).not.toEqual(expected[0]);
  });

  it("begins anew when it is reset, for one test id or all", () => {
    const stamps = new SeededStamps("x");
    const [a, b] = [draw(stamps, "a", "f"), draw(stamps, "b", "f")];
    stamps.reset("a");
    expect(draw(stamps, "a", "f")).toEqual(a);
    expect(draw(stamps, "b", "f")).not.toEqual(b);
    stamps.reset();
    expect(draw(stamps, "b", "f")).toEqual(b);
  });
});
