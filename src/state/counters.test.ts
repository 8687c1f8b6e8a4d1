import { expect, test } from "vitest";
import { MemoryCounters } from "./counters.ts";

test("groups and test ids are counted apart", () => {
  const counters = new MemoryCounters();
  counters.increment("a", "x");
  counters.increment("a", "x");
  counters.increment("a", "y");
  counters.increment("b", "x");
  expect([
    counters.count("a", "x"),
    counters.count("a", "y"),
    counters.count("b", "x"),
    counters.count("b", "y"),
  ]).toEqual([2, 1, 1, 0]);
});

test("one test id is reset, or all", () => {
  const counters = new MemoryCounters();
  counters.increment("a", "x");
  counters.increment("b", "x");
  counters.reset("b");
  expect([counters.count("a", "x"), counters.count("b", "x")]).toEqual([1, 0]);
  counters.increment("b", "x");
  expect(counters.count("b", "x")).toBe(1);
  counters.reset();
  expect([counters.count("a", "x"), counters.count("b", "x"), counters.size]).toEqual([0, 0, 0]);
});

test("beyond the limit, the test id that was used longest ago begins anew", () => {
  const counters = new MemoryCounters(2);
  counters.increment("a", "x");
  counters.increment("b", "x");
  expect(counters.count("a", "x")).toBe(1);
  counters.increment("c", "x");
  expect([counters.count("a", "x"), counters.count("b", "x"), counters.count("c", "x")]).toEqual([1, 0, 1]);
  expect(counters.size).toBe(2);
});

test("asking for a count keeps no test id", () => {
  const counters = new MemoryCounters();
  for (let index = 0; index < 1000; index++) counters.count(`t${index}`, "x");
  expect(counters.size).toBe(0);
});
