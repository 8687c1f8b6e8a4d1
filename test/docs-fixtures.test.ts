import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseFixtures } from "../src/fixtures/load.ts";
import { StuntDouble } from "../src/index.ts";
import { explainRequest } from "../src/server/explain-request.ts";

const documents = ["docs/fixtures.md"];
const examples = readdirSync("examples/fixtures", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".json"))
  .map((name) => `examples/fixtures/${name}`);

const blocks = documents.flatMap((file) =>
  [...readFileSync(file, "utf8").matchAll(/^```(json|yaml)\n(.*?)^```$/gms)].map((found, index) => ({
    name: `block ${index + 1} of ${file}.${found[1]}`,
    text: found[2]!,
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

test("the request in docs/matching.md can be explained", async () => {
  const [, text] = /^```json\n(.*?)^```$/ms.exec(readFileSync("docs/matching.md", "utf8"))!;
  const double = new StuntDouble();
  double.addFixture({ id: "greeting", match: { context: "checkout" }, response: { content: "Hi there!" } });
  const explanation = await double.explain(explainRequest(JSON.parse(text!)));
  expect(explanation).toMatchObject({ operation: "anthropic-messages", fixture: "greeting", answer: '"Hi there!"' });
});

test("a miss reads as docs/matching.md has it", async () => {
  const [, text] = /^```text\n(.*?)^```$/ms.exec(readFileSync("docs/matching.md", "utf8"))!;
  const file = {
    fixtures: [
      { id: "greeting", match: { userMessage: "hello" }, response: { content: "Hi there!" } },
      { id: "farewell", match: { userMessage: "good bye", model: "gpt-4" }, response: { content: "Bye." } },
    ],
  };
  const double = new StuntDouble();
  double.addFixtures(parseFixtures(JSON.stringify(file), "fixtures/a.json").fixtures);
  const body = JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "Hello!" }] });
  await double.fetch("http://double/v1/chat/completions", { method: "POST", body });
  const lines = double.lastCall()!.response.detail!.split("\n");
  expect(text!.split("\n").slice(1, 3)).toEqual(lines.slice(1));
});
