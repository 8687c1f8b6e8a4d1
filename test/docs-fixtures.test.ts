import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseFixtures } from "../src/fixtures/load.ts";

const documents = ["docs/fixtures.md"];
const examples = readdirSync("examples/fixtures", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".json"))
  .map((name) => `examples/fixtures/${name}`);

const blocks = documents.flatMap((file) =>
  [...readFileSync(file, "utf8").matchAll(/^```json\n(.*?)^```$/gms)].map((found, index) => ({
    name: `block ${index + 1} of ${file}`,
    text: found[1]!,
  })),
);

test("there are examples to check", () => {
  expect(blocks.length).toBeGreaterThan(5);
  expect(examples.length).toBeGreaterThan(5);
});

test.each([...blocks, ...examples.map((name) => ({ name, text: readFileSync(name, "utf8") }))])(
  "$name can be loaded",
  ({ name, text }) => {
    const { fixtures, faults } = parseFixtures(text, name);
    expect(faults).toEqual([]);
    expect(fixtures.length).toBeGreaterThan(0);
  },
);
