import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import OpenAI from "openai";
import { afterAll, expect, it } from "vitest";
import { StuntDouble } from "../src/index.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const scratch = new URL("./.readme/", import.meta.url);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function example(language: string): string {
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readme);
  if (found === null) throw new Error(`The README has no ${language} example any more.`);
  return found[1]!;
}

it("opens with its two commands", () => {
  expect(readme.split("\n").slice(2, 5)).toEqual([
    "```sh",
    expect.stringMatching(/^npm start {3}#/),
    expect.stringMatching(/^npm test {4}#/),
  ]);
});

it("shows fixtures that carry a tool loop", async () => {
  mkdirSync(scratch, { recursive: true });
  const file = new URL("fixtures.json", scratch).pathname;
  writeFileSync(file, example("json"));
  const double = new StuntDouble().load(file);
  const client = new OpenAI({ baseURL: "http://x/v1", apiKey: "x", fetch: double.fetch });
  const question = { role: "user" as const, content: "the weather?" };
  const first = await client.chat.completions.create({ model: "m", messages: [question] });
  const call = first.choices[0]!.message.tool_calls![0]!;
  const result = { role: "tool" as const, tool_call_id: call.id, content: "72" };
  const second = await client.chat.completions.create({
    model: "m",
    messages: [question, first.choices[0]!.message, result],
  });
  expect(second.choices[0]!.message.content).toBe("It is 72°F.");
});

it("shows TypeScript that runs", async () => {
  mkdirSync(scratch, { recursive: true });
  const file = new URL("example.ts", scratch);
  const code = example("ts")
    .replace('"stuntdouble"', '"../../src/index.ts"')
    .replace(
      "await double.stop();",
      `const ask = { model: "m", messages: [{ role: "user" as const, content: "hello" }] };
export const answers = [
  (await overASocket.chat.completions.create(ask)).choices[0]!.message.content,
  (await inThisProcess.chat.completions.create(ask)).choices[0]!.message.content,
];
await double.stop();`,
    );
  writeFileSync(file, code);
  const { answers } = await import(/* @vite-ignore */ file.href);
  expect(answers).toEqual(["Hi!", "Hi!"]);
});
