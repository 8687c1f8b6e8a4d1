import { expect, test } from "vitest";
import { withVerb } from "./verb.ts";

const NODE = ["node", "main.js"];

test.each([
  [
    ["-p", "4010"],
    ["serve", "-p", "4010"],
  ],
  [
    ["--fixtures", "x"],
    ["serve", "--fixtures", "x"],
  ],
  [
    ["-h", "127.0.0.1"],
    ["serve", "-h", "127.0.0.1"],
  ],
])("%j serves", (given, run) => {
  expect(withVerb([...NODE, ...given])).toEqual([...NODE, ...run]);
});

test.each([[[]], [["--help"]], [["-h"]], [["serve", "-p", "1"]], [["lint", "x"]]])("%j is left as it is", (given) => {
  expect(withVerb([...NODE, ...given])).toEqual([...NODE, ...given]);
});
