import { expect, it } from "vitest";
import { LocalMemory } from "./memory.ts";

it("forgets what was used longest ago, be it told or asked for", () => {
  const memory = new LocalMemory<number>(3);
  for (const [key, value] of [
    ["a", 1],
    ["b", 2],
    ["c", 3],
  ] as const)
    memory.set(key, value);
  expect(memory.get("a")).toBe(1);
  memory.set("b", 4);
  memory.set("d", 5);
  expect([memory.get("a"), memory.get("b"), memory.get("c"), memory.get("d")]).toEqual([1, 4, undefined, 5]);
  expect(memory.size).toBe(3);
});

it("keeps one entry at least", () => {
  const memory = new LocalMemory<number>(0);
  memory.set("a", 1);
  expect(memory.get("a")).toBe(1);
  memory.set("b", 2);
  expect(memory.values()).toEqual([2]);
});
