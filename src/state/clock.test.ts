import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SystemClock } from "./clock.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("SystemClock", () => {
  it("rings alarms in the order of their moments, whatever the order in which they were set", () => {
    const clock = new SystemClock();
    const start = clock.now();
    const rung: number[] = [];
    for (const ms of [30, 10, 20, 5, 25, 15]) clock.at(start + ms, () => rung.push(ms));
    vi.advanceTimersByTime(100);
    expect(rung).toEqual([5, 10, 15, 20, 25, 30]);
  });

  it("rings an alarm that is set for earlier than those before it", () => {
    const clock = new SystemClock();
    const rung: string[] = [];
    clock.at(clock.now() + 1000, () => rung.push("late"));
    clock.at(clock.now() + 1, () => rung.push("early"));
    vi.advanceTimersByTime(2);
    expect(rung).toEqual(["early"]);
  });

  it("does not ring what was cancelled", () => {
    const clock = new SystemClock();
    const rung: string[] = [];
    const cancel = clock.at(clock.now() + 1, () => rung.push("cancelled"));
    clock.at(clock.now() + 2, () => rung.push("kept"));
    cancel();
    vi.advanceTimersByTime(10);
    expect(rung).toEqual(["kept"]);
  });

  it("takes alarms that are set while it rings", () => {
    const clock = new SystemClock();
    const rung: string[] = [];
    clock.at(clock.now() + 1, () => {
      rung.push("first");
      clock.at(clock.now() + 5, () => rung.push("second"));
    });
    vi.advanceTimersByTime(10);
    expect(rung).toEqual(["first", "second"]);
  });
});
