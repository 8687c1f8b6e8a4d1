import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Dialect } from "../src/dialects/operation.ts";
import { Traverser } from "../src/dialects/traverser.ts";
import type { StuntDouble } from "../src/index.ts";

/** docs/adding-a-dialect.md, followed: its files are put where they say, in a copy of the folders around them. */
const house = mkdtempSync(join(tmpdir(), "stuntdouble-acme-"));
const files = [
  ...readFileSync("docs/adding-a-dialect.md", "utf8").matchAll(/^```ts\n\/\/ (src\/\S+)\n(.*?)^```$/gms),
].map(([, path, code]) => ({ path: path!, code: code! }));

let acme: Dialect;
let double: StuntDouble;
beforeAll(async () => {
  writeFileSync(join(house, "package.json"), JSON.stringify({ type: "module" }));
  for (const { path, code } of files) {
    const file = join(house, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, withAbsoluteImports(code));
  }
  ({ acme } = (await import(join(house, "src/dialects/acme/index.ts"))) as { acme: Dialect });
  // The line in the registry.
  vi.doMock("../src/services/registry.ts", async (original) => {
    const { dialects } = await original<{ dialects: Dialect[] }>();
    return { dialects: [...dialects, acme] };
  });
  const product = await import("../src/index.ts");
  double = await product.StuntDouble.start();
});
afterEach(() => double.reset());
afterAll(async () => {
  await double?.stop();
  vi.doUnmock("../src/services/registry.ts");
  rmSync(house, { recursive: true });
});

/** What is beside the new folder stays where it is. */
function withAbsoluteImports(code: string): string {
  return code.replace(/from "(\.\.\/[^"]+)"/g, (_, path) => `from "${resolve("src/dialects/acme", path)}"`);
}

async function talk(say: string, live = false, more: object = {}): Promise<Response> {
  const body = JSON.stringify({ model: "acme-1", turns: [{ by: "human", say }], live, ...more });
  return fetch(`${double.url}/v3/talk`, { method: "POST", body });
}

const eventsIn = (text: string) =>
  [...text.matchAll(/^event: (.+)\ndata: (.+)\n$/gm)].map(([, event, data]) => ({ event, data: JSON.parse(data!) }));

const WEATHER = {
  content: "I will have a look at it.",
  toolCalls: [{ id: "call_1", name: "weather", arguments: { city: "Bern" } }],
  usage: { prompt_tokens: 7, completion_tokens: 9 },
};

it("has all files of a dialect", () => {
  const names = ["request", "response", "stream", "rules", "errors", "index"];
  expect(files.map(({ path }) => path)).toEqual(names.map((name) => `src/dialects/acme/${name}.ts`));
});

it("fits the types of the house", () => {
  const config = join(house, "tsconfig.json");
  const own = { extends: resolve("tsconfig.json"), include: [], files: files.map(({ path }) => join(house, path)) };
  const compilerOptions = { typeRoots: [resolve("node_modules/@types")], incremental: false };
  writeFileSync(config, JSON.stringify({ ...own, compilerOptions }));
  const { status, stdout } = spawnSync("npx", ["tsc", "-p", config], { encoding: "utf8" });
  expect(stdout).toBe("");
  expect(status).toBe(0);
});

describe("the double with it", () => {
  it("answers by the fixtures that serve everybody", async () => {
    double.onMessage("hello", { content: "Hi!" });
    expect(await (await talk("well, hello")).json()).toEqual({
      ref: expect.stringMatching(/^talk_[0-9A-Za-z]{24}$/),
      model: "acme-1",
      say: "Hi!",
      calls: [],
      ended: "done",
      spent: { in: 3, out: 1 },
    });
  });

  it("streams", async () => {
    double.onMessage("weather", WEATHER);
    const response = await talk("weather?", true);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(eventsIn(await response.text())).toEqual([
      { event: "start", data: { ref: expect.stringMatching(/^talk_/), model: "acme-1" } },
      { event: "say", data: { say: "I will have a look a" } },
      { event: "say", data: { say: "t it." } },
      { event: "call", data: { calls: [{ call: "call_1", tool: "weather", with: { city: "Bern" } }] } },
      { event: "end", data: { ended: "calls", spent: { in: 7, out: 9 } } },
    ]);
  });

  it("goes on from the result of a tool, and takes overrides", async () => {
    double.onToolResult("call_1", { content: "Sunny.", id: "own", model: "other", finishReason: "length" });
    const turns = [
      { by: "human", say: "weather?" },
      { by: "machine", say: "" },
      { by: "tool", call: "call_1", say: "sun" },
    ];
    expect(await (await talk("", false, { turns })).json()).toMatchObject({
      ref: "own",
      model: "other",
      say: "Sunny.",
      ended: "too_long",
    });
  });

  it("fails in its own words, also in mid-stream and where nothing matches", async () => {
    double.onMessage("fail", { error: { message: "Slow down." }, status: 429, retryAfter: 2 });
    const refused = await talk("fail");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"]);
    expect(await refused.json()).toEqual({ problem: { status: 429, text: "Slow down." } });
    double.onMessage("break", { content: "So far", streamError: { message: "Overloaded.", status: 503 } });
    expect(eventsIn(await (await talk("break", true)).text()).slice(1)).toEqual([
      { event: "say", data: { say: "So far" } },
      { event: "problem", data: { problem: { status: 503, text: "Overloaded." } } },
    ]);
    expect(await (await talk("unheard of")).json()).toMatchObject({
      problem: { status: 404, text: expect.stringMatching(/^No fixture matched/) },
    });
  });

  it.each([
    "",
    "{",
    "null",
    "[]",
    "3",
    "{}",
    '{"model":"m"}',
    '{"model":"m","turns":[3]}',
    '{"model":"m","turns":[{}]}',
  ])("refuses %j", async (body) => {
    const response = await fetch(`${double.url}/v3/talk`, { method: "POST", body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ problem: { status: 400, text: expect.any(String) } });
  });

  it("reads again what it has written, whole and streamed", async () => {
    double.onMessage("weather", WEATHER);
    const whole = await (await talk("weather?")).json();
    const pieces = eventsIn(await (await talk("weather?", true)).text()).map(({ data }) => data);
    for (const messages of [[whole], pieces]) {
      const reader = new Traverser(acme.operations[0]!.rules!, "acme");
      for (const message of messages) reader.push(message, 0);
      expect(reader.finish()).toMatchObject({
        choices: [
          {
            parts: [
              { type: "text", text: "I will have a look at it." },
              { type: "toolCall", id: "call_1", name: "weather", arguments: '{"city":"Bern"}' },
            ],
            finish: { reason: "tool_calls" },
          },
        ],
        usage: { promptTokens: 7, completionTokens: 9 },
        envelope: { model: "acme-1" },
      });
    }
  });
});
