import { expect, test } from "vitest";
import { parseArguments } from "./arguments.ts";

test.each([
  ['{"city":"Bern"}', { city: "Bern" }],
  ["", {}],
  [" \n", {}],
  ["null", null],
  ['{"city":', '{"city":'],
])("%j is %j", (text, value) => {
  expect(parseArguments(text)).toEqual(value);
});
