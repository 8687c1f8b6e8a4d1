import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readAimockConfig } from "../../src/cli/aimock-config.ts";
import { StuntDouble } from "../../src/index.ts";
import { vcr } from "../../src/testing/vcr/index.ts";

/** Each runner as its users have it: a project of its own, the built package, and a process. */
const root = resolve(import.meta.dirname, "../..");

// Of a runner's start on a busy machine, several times over.
const TIMEOUT_MS = 120_000;

let project: string;
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "stuntdouble-runners-"));
  const modules = join(project, "node_modules");
  mkdirSync(join(modules, "@playwright"), { recursive: true });
  // As it is installed: runners treat what is not below node_modules as the project's own source.
  const own = join(modules, "stuntdouble");
  mkdirSync(own);
  cpSync(join(root, "dist"), join(own, "dist"), { recursive: true });
  cpSync(join(root, "package.json"), join(own, "package.json"));
  symlinkSync(join(root, "node_modules"), join(own, "node_modules"));
  for (const name of ["vitest", "vite", "jest", "openai", "@playwright/test"]) {
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  write("package.json", JSON.stringify({ name: "example", private: true, type: "module" }));
  write(
    "fixtures/greetings.json",
    JSON.stringify({
      fixtures: [
        { match: { userMessage: "hello" }, response: { content: "Hi!" } },
        { match: { userMessage: "status", sequenceIndex: 0 }, response: { content: "first" } },
        { match: { userMessage: "status", sequenceIndex: 1 }, response: { content: "second" } },
      ],
    }),
  );
  // What is tested: it knows nothing of a double, and asks whoever its SDK is led to.
  write(
    "ask.mjs",
    `import OpenAI from "openai";
    export async function ask(content) {
      const reply = await new OpenAI({ apiKey: "none", maxRetries: 0 }).chat.completions.create({
        model: "gpt-4o",
        messages: [{ role: "user", content }],
      });
      return reply.choices[0].message.content;
    }`,
  );
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

function write(file: string, text: string): void {
  mkdirSync(join(project, file, ".."), { recursive: true });
  writeFileSync(join(project, file), text);
}

async function run(command: string, ...flags: string[]): Promise<{ code: number; output: string }> {
  // What this run of Vitest has set must not be seen by another.
  const { PATH, HOME } = process.env;
  const env = {
    PATH,
    HOME,
    CI: "1",
    NO_COLOR: "1",
    ...(command === "jest" && { NODE_OPTIONS: "--experimental-vm-modules" }),
  };
  const bin = command === "node" ? process.execPath : join(root, "node_modules/.bin", command);
  const child = spawn(bin, flags, { cwd: project, env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const [code] = (await once(child, "close")) as [number];
  return { code, output };
}

/** The same tests in each runner: `equal` is its assertion, `test` its test. */
function passing(equal: (actual: string, expected: string) => string): string {
  return `
    test("the SDK is led to the double", async () => {
      ${equal('await ask("hello")', '"Hi!"')};
      ${equal("double().calls().length", "1")};
    });
    test("sequences and calls begin anew, and a test may add to the double", async () => {
      ${equal("double().calls().length", "0")};
      ${equal('await ask("status")', '"first"')};
      ${equal('await ask("status")', '"second"')};
      double().onMessage("only here", { content: "added" });
      double().setChaos({ dropRate: 0.5 });
      ${equal('await ask("only here").catch(() => "dropped") === ""', "false")};
      ${equal("double().fixtures.length", "4")};
    });
    test("nothing is left of what the test before has done", async () => {
      ${equal("double().fixtures.length", "3")};
      ${equal('await ask("status")', '"first"')};
    });`;
}

const failing = `
  test("asks what nobody knows", async () => {
    await ask("helo").catch(() => {});
  });`;

describe("Vitest", { timeout: TIMEOUT_MS }, () => {
  const head = (options: string): string => `
    import { test, expect } from "vitest";
    import { useStuntDouble } from "stuntdouble/vitest";
    import { ask } from "./ask.mjs";
    const double = useStuntDouble(${options});`;
  const vitest = (...files: string[]): ReturnType<typeof run> => run("vitest", "run", "--root", project, ...files);

  it("starts a double, leads SDKs to it, and makes it forget between tests", async () => {
    write("pass.test.mjs", head('{ fixtures: "fixtures" }') + passing((a, b) => `expect(${a}).toBe(${b})`));
    const { code, output } = await vitest("pass.test.mjs");
    expect(output).toContain("3 passed");
    expect(code).toBe(0);
  });

  it("fails a test that had a miss, and explains it; or says so; or neither", async () => {
    write("fail.test.mjs", head('{ fixtures: "fixtures" }') + failing);
    write("warn.test.mjs", head('{ fixtures: "fixtures", onMiss: "warn" }') + failing);
    write("ignore.test.mjs", head('{ fixtures: "fixtures", onMiss: "ignore" }') + failing);
    const [failed, warned, ignored] = await Promise.all([
      vitest("fail.test.mjs"),
      vitest("warn.test.mjs"),
      vitest("ignore.test.mjs"),
    ]);
    expect(failed.code).toBe(1);
    expect(failed.output).toContain("had no tape to answer");
    expect(failed.output).toContain('"hello"');
    expect(warned.code).toBe(0);
    expect(warned.output).toContain('"hello"');
    expect(ignored.code).toBe(0);
    expect(ignored.output).not.toContain("had no tape");
  });

  it("aimock's hook: the server's url, and SDKs that are led to it", async () => {
    write(
      "aimock.test.mjs",
      `import { test, expect } from "vitest";
      import { useAimock } from "stuntdouble/aimock/vitest";
      import { ask } from "./ask.mjs";
      const mock = useAimock({ fixtures: "./fixtures" });
      test("first", async () => {
        expect(await ask("status")).toBe("first");
        expect(process.env.OPENAI_BASE_URL).toBe(mock().url + "/v1");
        mock().llm.onMessage("stays", { content: "here" });
      });
      test("second", async () => {
        expect(await ask("status")).toBe("first");
        expect(await ask("stays")).toBe("here");
        expect(mock().llm.getRequests().length).toBe(3);
      });`,
    );
    const { code, output } = await vitest("aimock.test.mjs");
    expect(output).toContain("2 passed");
    expect(code).toBe(0);
  });
});

describe("Jest", { timeout: TIMEOUT_MS }, () => {
  const head = (options: string): string => `
    import { useStuntDouble } from "stuntdouble/jest";
    import { ask } from "./ask.mjs";
    const double = useStuntDouble(${options});`;
  const jest = (file: string): ReturnType<typeof run> =>
    run("jest", "--rootDir", project, "--testMatch", `**/${file}`, "--transform", "{}");

  it("starts a double, leads SDKs to it, and makes it forget between tests", async () => {
    write("jest-pass.js", head('{ fixtures: "fixtures" }') + passing((a, b) => `expect(${a}).toBe(${b})`));
    const { code, output } = await jest("jest-pass.js");
    expect(output).toContain("3 passed");
    expect(output).not.toContain("did not exit");
    expect(code).toBe(0);
  });

  it("fails a test that had a miss, and explains it", async () => {
    write("jest-fail.js", head('{ fixtures: "fixtures" }') + failing);
    const { code, output } = await jest("jest-fail.js");
    expect(code).toBe(1);
    expect(output).toContain("had no tape to answer");
    expect(output).toContain('"hello"');
  });

  it("aimock's hook", async () => {
    write(
      "jest-aimock.cjs",
      `const { useAimock } = require("stuntdouble/aimock/jest");
      const mock = useAimock({ fixtures: "./fixtures" });
      test("serves", async () => {
        const reply = await fetch(mock().url + "/v1/chat/completions", {
          method: "POST",
          body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "hello" }] }),
        });
        expect((await reply.json()).choices[0].message.content).toBe("Hi!");
      });`,
    );
    const { code, output } = await jest("jest-aimock.cjs");
    expect(output).toContain("1 passed");
    expect(code).toBe(0);
  });
});

describe("node:test", { timeout: TIMEOUT_MS }, () => {
  const head = (options: string): string => `
    import assert from "node:assert";
    import { test } from "node:test";
    import { useStuntDouble } from "stuntdouble/node-test";
    import { ask } from "./ask.mjs";
    const double = useStuntDouble(${options});`;

  it("starts a double, leads SDKs to it, and makes it forget between tests", async () => {
    write("node-pass.mjs", head('{ fixtures: ["fixtures"] }') + passing((a, b) => `assert.equal(${a}, ${b})`));
    const { code, output } = await run("node", "--test", "node-pass.mjs");
    expect(output).toMatch(/pass 3/);
    expect(code).toBe(0);
  });

  it("fails a test that had a miss, and explains it", async () => {
    write("node-fail.mjs", head('{ fixtures: ["fixtures"] }') + failing);
    const { code, output } = await run("node", "--test", "node-fail.mjs");
    expect(code).toBe(1);
    expect(output).toContain("had no tape to answer");
    expect(output).toContain("hello");
  });
});

describe("Playwright", { timeout: TIMEOUT_MS }, () => {
  const head = (options: string): string => `
    import { test as base, expect } from "@playwright/test";
    import { withStuntDouble } from "stuntdouble/playwright";
    import { ask } from "./ask.mjs";
    const test = withStuntDouble(base, ${options});`;
  const playwright = (file: string): ReturnType<typeof run> =>
    run("playwright", "test", "--reporter", "list", "--workers", "1", file);

  it("gives each worker a double, which forgets between tests", async () => {
    write("playwright.config.mjs", 'export default { testDir: ".", testMatch: "pw-*.mjs" };');
    write(
      "pw-pass.mjs",
      `${head('{ fixtures: "fixtures" }')}
      let url;
      test("the SDK is led to the double", async ({ stuntDouble }) => {
        url = stuntDouble.url;
        expect(await ask("status")).toBe("first");
        stuntDouble.onMessage("only here", { content: "added" });
      });
      test("the same one has forgotten", async ({ stuntDouble, request }) => {
        expect(stuntDouble.url).toBe(url);
        expect(stuntDouble.fixtures.length).toBe(3);
        const reply = await request.post(url + "/v1/chat/completions", {
          data: { model: "gpt-4o", messages: [{ role: "user", content: "status" }] },
        });
        expect((await reply.json()).choices[0].message.content).toBe("first");
      });`,
    );
    const { code, output } = await playwright("pw-pass.mjs");
    expect(output).toContain("2 passed");
    expect(code).toBe(0);
  });

  it("fails a test that had a miss, whether it asked for the double or not", async () => {
    write("pw-fail.mjs", head('{ fixtures: "fixtures" }') + failing);
    const { code, output } = await playwright("pw-fail.mjs");
    expect(code).toBe(1);
    expect(output).toContain("had no tape to answer");
    expect(output).toContain('"hello"');
  });
});

/** Records, for a scenario of the project, what was asked in it: the same SDK asks the same. */
async function record(scenario: string, question: string, answer: string): Promise<void> {
  const fixtures = [{ match: { userMessage: question }, response: { content: answer } }];
  await using upstream = await StuntDouble.start({ fixtures });
  const options = { mode: "record", folder: join(project, "cassettes"), providers: { openai: upstream.url } } as const;
  const { ask } = (await import(/* @vite-ignore */ join(project, "ask.mjs"))) as { ask(text: string): Promise<string> };
  await vcr.use(scenario, options, () => ask(question));
}

describe("cassettes of each test", { timeout: TIMEOUT_MS }, () => {
  const body = (equal: string): string => `
    test("answers", async () => {
      ${equal};
    });
    test("is not recorded", async () => {
      await ask("something else").catch(() => {});
    });`;
  const RUNNERS: [name: string, file: string, command: string, flags: string[], text: string][] = [
    [
      "Vitest",
      "taped.test.mjs",
      "vitest",
      ["run", "taped.test.mjs"],
      `import { test, expect } from "vitest";
      import { cassette } from "stuntdouble/vitest";
      import { ask } from "./ask.mjs";
      cassette();
      ${body('expect(await ask("hello")).toBe("From a tape.")')}`,
    ],
    [
      "Jest",
      "taped-jest.js",
      "jest",
      ["--testMatch", "**/taped-jest.js", "--transform", "{}"],
      `import { cassette } from "stuntdouble/jest";
      import { ask } from "./ask.mjs";
      cassette();
      ${body('expect(await ask("hello")).toBe("From a tape.")')}`,
    ],
    [
      "node:test",
      "taped-node.mjs",
      "node",
      ["--test", "taped-node.mjs"],
      `import assert from "node:assert";
      import { test } from "node:test";
      import { cassette } from "stuntdouble/node-test";
      import { ask } from "./ask.mjs";
      cassette();
      ${body('assert.equal(await ask("hello"), "From a tape.")')}`,
    ],
    [
      "Playwright",
      "pw-taped.mjs",
      "playwright",
      ["test", "--reporter", "list", "--workers", "1", "pw-taped.mjs"],
      `import { test as base, expect } from "@playwright/test";
      import { withCassette } from "stuntdouble/playwright";
      import { ask } from "./ask.mjs";
      const test = withCassette(base);
      ${body('expect(await ask("hello")).toBe("From a tape.")')}`,
    ],
  ];

  it.each(RUNNERS)(
    "are replayed in %s, and a call without one fails its test alone",
    async (_, file, command, flags, text) => {
      await record(`${file.replace(/\.m?js$/, "")} answers`, "hello", "From a tape.");
      write("playwright.config.mjs", 'export default { testDir: ".", testMatch: "pw-*.mjs" };');
      write(file, text);
      const { code, output } = await run(command, ...flags);
      expect(output).toMatch(/1 passed|pass 1/);
      expect(output).toMatch(/1 failed|fail 1/);
      expect(output).toContain("1 call had no tape to answer");
      expect(output).toContain(`There is no cassette of the scenario "${file.replace(/\.m?js$/, "")} is not recorded"`);
      expect(code).toBe(1);
    },
  );
});

describe("the examples of the documentation", { timeout: TIMEOUT_MS }, () => {
  const blocks = (document: string): { name: string; text: string }[] =>
    [...readFileSync(join(root, "docs", document), "utf8").matchAll(/^```js(?: (\S+))?\n(.*?)^```$/gms)].map(
      ([, name = "", text = ""]) => ({ name, text }),
    );

  it.each<[file: string, command: string, flags: string[], passed: string]>([
    ["weather.test.mjs", "vitest", ["run", "weather.test.mjs"], "2 passed"],
    ["weather-jest.js", "jest", ["--testMatch", "**/weather-jest.js", "--transform", "{}"], "1 passed"],
    ["weather-node.mjs", "node", ["--test", "weather-node.mjs"], "pass 1"],
    ["pw-weather.mjs", "playwright", ["test", "pw-weather.mjs"], "1 passed"],
    ["recorded.test.mjs", "vitest", ["run", "recorded.test.mjs"], "1 passed"],
  ])("%s", async (file, command, flags, passed) => {
    const examples = blocks("test-runners.md");
    expect(examples.map(({ name }) => name)).toContain(file);
    for (const { name, text } of examples) if (name === file || name === "ask.mjs") write(name, text);
    write("playwright.config.mjs", 'export default { testDir: ".", testMatch: "pw-*.mjs" };');
    if (file === "recorded.test.mjs") await record("recorded.test asks about the weather", "weather?", "Sunny.");
    const { code, output } = await run(command, ...flags);
    expect(output).toContain(passed);
    expect(code).toBe(0);
  });

  it("those for who comes from aimock", async () => {
    const examples = blocks("from-aimock.md");
    expect(examples).toHaveLength(2);
    for (const { text } of examples) {
      write("example.mjs", text);
      expect(await run("node", "example.mjs")).toEqual({ code: 0, output: "Hi there!\n200\n" });
    }
  });

  it("the aimock.json", () => {
    const document = readFileSync(join(root, "docs", "from-aimock.md"), "utf8");
    write("aimock.json", /^```json aimock.json\n(.*?)^```$/ms.exec(document)![1]!);
    expect(readAimockConfig(join(project, "aimock.json"))).toMatchObject({ port: 4010, fixtures: ["./fixtures"] });
  });
});
