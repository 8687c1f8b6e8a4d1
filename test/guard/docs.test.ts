import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Ajv } from "ajv";
import { afterAll, expect, it } from "vitest";
import { CALL_LIMITS } from "../../src/guard/breaker.ts";
import { readGuardOptions } from "../../src/guard/options.ts";
import { StuntDouble } from "../../src/index.ts";
import { post } from "../relay/support.ts";

const page = readFileSync(new URL("../../docs/guards.md", import.meta.url), "utf8");
const scratch = new URL("../.readme/guards/", import.meta.url);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function example(language: string): string {
  return new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)![1]!;
}

it("shows a file that does what it says", async () => {
  const guard = await readGuardOptions(JSON.parse(example("json")));
  const double = new StuntDouble({ guard });
  double.on({}, { content: "Fine." });
  const ask = (content: string, more: object = {}) =>
    post(
      "http://double/v1/chat/completions",
      { model: "m", messages: [{ role: "user", content }], ...more },
      {},
      double.fetch,
    );
  expect((await ask("Authorization: Bearer abcdefgh12345678")).status).toBe(403);
  expect((await ask("From ada@example.com on Project Falcon", { metadata: { tenant: "acme" } })).status).toBe(200);
  expect(double.lastCall()?.body).toMatchObject({
    messages: [{ content: "From «email:1» on «word:1»" }],
    metadata: { tenant: "«pointer:1»" },
  });
  expect(double.lastCall()?.response.guard?.map(({ rule, action }) => [rule, action])).toEqual([
    ["no-people", "redact"],
    ["projects", "report"],
    ["tenant", "redact"],
  ]);
  expect((await ask("internal only")).status).toBe(200);
});

it("shows TypeScript that runs", async () => {
  mkdirSync(scratch, { recursive: true });
  const file = new URL("example.ts", scratch);
  const told: unknown[] = [];
  const key = "guardsExample";
  (globalThis as Record<string, unknown>)[key] = told;
  const code = example("ts")
    .replace('"stuntdouble"', '"../../../src/index.ts"')
    .replaceAll("console.log(", `(globalThis as unknown as { ${key}: unknown[] }).${key}.push(`);
  writeFileSync(file, code);
  await import(/* @vite-ignore */ file.href);
  expect(told).toEqual([
    true,
    [{ rule: "no-people", action: "block", detector: "email", direction: "request", count: 1 }],
  ]);
});

it("names every limit", () => {
  expect([...page.matchAll(/^\| `(\w+)` \| call/gm)].map(([, name]) => name)).toEqual([...CALL_LIMITS]);
});

it("has a schema that refuses what the guard would pass over", async () => {
  const schema = JSON.parse(readFileSync(new URL("../../schemas/guard.schema.json", import.meta.url), "utf8"));
  expect(new Ajv().validateSchema(schema)).toBe(true);
  await expect(readGuardOptions({ rules: [{ action: "drop" }] })).rejects.toThrow("/rules/0/action");
  await expect(readGuardOptions({ rules: [{ action: "block", words: "x" }] })).rejects.toThrow("/rules/0/words");
  await expect(readGuardOptions({ breaker: { run: { idleSeconds: 1 } } })).rejects.toThrow("idleSeconds");
  await expect(readGuardOptions({ prices: {} })).rejects.toThrow("prices");
});
