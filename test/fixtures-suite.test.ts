import { readdirSync, readFileSync } from "node:fs";
import { parse } from "jsonc-parser";
import { expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { type Fixture, StuntDouble } from "../src/index.ts";
import { dialects } from "../src/services/registry.ts";
import { type Ask, WRITERS } from "./support/dialect-asks.ts";

const FOLDER = "test/fixtures-suite";

interface Suite {
  fixtures: Fixture[];
  /** In this order: the id of the fixture that answers, `fallback` for what is made up, null for a miss. */
  _cases: { ask: Ask; answer: string | null }[];
}

const files = readdirSync(FOLDER);
const suites = new Map(
  files.map((file): [string, Suite] => {
    const text = readFileSync(`${FOLDER}/${file}`, "utf8");
    return [file, file.endsWith(".yaml") ? parseYaml(text) : parse(text, [], { allowTrailingComma: true })];
  }),
);
const read = (file: string): Suite => suites.get(file)!;

/** Three ways for fixtures to come to a double. */
const WAYS: Record<string, (double: StuntDouble, file: string) => unknown> = {
  library: (double, file) => double.addFixtures(read(file).fixtures),
  files: (double, file) => double.load(`${FOLDER}/${file}`),
  control: async (double, file) => {
    const body = JSON.stringify({ fixtures: read(file).fixtures });
    const response = await double.fetch("http://double/__stuntdouble/fixtures", { method: "POST", body });
    expect(response.status).toBe(200);
  },
};

async function answer(double: StuntDouble, path: string, body: unknown, ask: Ask): Promise<string | null> {
  const response = await double.fetch(`http://double${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(ask.context !== undefined && { "x-stuntdouble-context": ask.context }),
      ...(ask.testId !== undefined && { "x-test-id": ask.testId }),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const { source, fixture } = double.lastCall()!.response;
  if (source === "miss") return null;
  if (source === "fallback") return "fallback";
  if (source !== "fixture") return `${source} ${text}`;
  // What came is the answer of the one that the journal names.
  if (response.status === 200 && !text.includes("answer ") && ask.user !== undefined)
    expect(text).toMatch(/ok|get_weather/);
  else if (response.status === 200 && ask.user !== undefined) expect(text).toContain(`answer ${fixture}`);
  return fixture;
}

test("the suite is of some size and meets every match field that a file can have", () => {
  expect(files.length).toBeGreaterThanOrEqual(60);
  const fields = new Set(files.flatMap((file) => read(file).fixtures.flatMap(({ match }) => Object.keys(match))));
  expect([...fields].sort()).toEqual(
    [
      "userMessage",
      "systemMessage",
      "inputText",
      "toolName",
      "toolCallId",
      "toolResultContains",
      "hasToolResult",
      "model",
      "responseFormat",
      "context",
      "endpoint",
      "turnIndex",
      "sequenceIndex",
    ].sort(),
  );
});

/** Those that are other names of one that is there: the same code reads them. */
const SAME_CODE = ["openai-models", "anthropic-models", "gemini-models", "azure-models"];

test("every dialect that answers fixtures is there", () => {
  const compatible = dialects.filter(({ operations }) => operations.some(({ name }) => name.endsWith("-chat")));
  const covered = new Set([...Object.keys(WRITERS), ...SAME_CODE, ...compatible.map(({ name }) => name)]);
  expect(dialects.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual([]);
});

test.each(Object.keys(WRITERS))("%s: every file has the same answers, however its fixtures came", async (dialect) => {
  const write = WRITERS[dialect]!;
  let asked = 0;
  for (const [way, bring] of Object.entries(WAYS)) {
    const double = new StuntDouble({ onWarning: () => {} });
    for (const file of files) {
      const cases = read(file)._cases.map((one) => ({ ...one, sent: write(one.ask) }));
      const sendable = cases.filter(({ sent }) => sent !== undefined);
      if (sendable.length === 0) continue;
      await bring(double.reset(), file);
      const answers: (string | null)[] = [];
      for (const { ask, sent } of sendable) answers.push(await answer(double, sent!.path, sent!.body, ask));
      expect([file, way, ...answers]).toEqual([file, way, ...sendable.map((one) => one.answer)]);
      asked += answers.length;
    }
  }
  expect(asked).toBeGreaterThanOrEqual(3);
});
