import { expect, test } from "vitest";
import { isOf, type Kind } from "./kinds.ts";

const KINDS: Kind[] = ["string", "integer", "number", "boolean", "list", "object"];

test.each<[unknown, Kind[]]>([
  ["1", ["string"]],
  [1, ["integer", "number"]],
  [1.5, ["number"]],
  [false, ["boolean"]],
  [[], ["list"]],
  [{}, ["object"]],
  [null, []],
  [undefined, []],
])("%j is of these kinds and of no other: %j", (value, kinds) => {
  expect(KINDS.filter((kind) => isOf(kind, value))).toEqual(kinds);
});
