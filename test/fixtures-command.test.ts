import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCli } from "./conformance/support.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stuntdouble-lint-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, value: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value, null, 2));
  return path;
}

const on = (match: object, response: object = { content: "yes" }, more = {}) => ({ ...more, match, response });

describe("stuntdouble lint", () => {
  test("tells everything at once, with its line", async () => {
    const key = `sk-proj-${"Ab1Cd2Ef3Gh4".repeat(5)}`;
    write("a.json", {
      fixtures: [
        on({ userMessage: "weather" }, { toolCalls: [{ name: "get_weather", arguments: {} }] }, { id: "one" }),
        on({ userMessage: "the weather" }, { content: `my key is ${key}` }, { id: "one" }),
      ],
    });
    write("b.yaml", "fixtures:\n  - match: {userMesage: x}\n    response: {content: x}\n");
    write(
      "c.yaml",
      "fixtures:\n  - match:\n      toolName: f\n      hasToolResult: false\n    response: {toolCalls: [{name: g, arguments: {}}]}\n",
    );
    const { code, stdout } = await runCli(["lint", folder]);
    const notes = stdout.replaceAll(`${folder}/`, "").match(/(?<=note ).*/g);
    expect(notes).toEqual([
      'a.json:5 /fixtures/0/match: it calls "get_weather" for ever: the request with the result holds for it again; add "hasToolResult": false, and a fixture for the result',
      expect.stringMatching(/^a\.json:\d+ \/fixtures\/1\/id: the id "one" is that of "one" too/),
      expect.stringMatching(/^a\.json:\d+ \/fixtures\/1\/match: it can never answer: "one" comes first/),
      expect.stringMatching(/^a\.json:\d+ \/fixtures\/1\/response\/content: a secret in the clear \([a-z-]+\)/),
      'b.yaml:2 /fixtures/0/match/userMesage: there is no member "userMesage" here; did you mean userMessage?',
      'c.yaml:5 /fixtures/0/response: it calls "g", but its match asks for a request that offers "f"',
    ]);
    expect(stdout).not.toContain(key.slice(8, 30));
    expect(code).toBe(1);
  });

  test("is content with the examples, and holds files to those before them", async () => {
    expect((await runCli(["lint", "examples/fixtures"])).code).toBe(0);
    const general = write("general.json", { fixtures: [on({})] });
    const special = write("special.json", { fixtures: [on({ userMessage: "x" })] });
    expect((await runCli(["lint", special, general])).code).toBe(0);
    const { code, stdout } = await runCli(["lint", general, special, "--reporter", "github"]);
    expect(code).toBe(1);
    expect(stdout).toContain(`::error file=${special}`);
  });

  test("of nothing is not a pass", async () => {
    expect((await runCli(["lint", folder])).code).toBe(2);
    expect(await runCli(["lint", "examples/cassettes"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("these are cassettes: stuntdouble verify checks them"),
    });
    const { code, stderr } = await runCli(["lint", join(folder, "nowhere")]);
    expect([code, stderr]).toEqual([2, `${join(folder, "nowhere")}: there is no such file or folder.\n`]);
  });
});

describe("stuntdouble explain", () => {
  const body = { model: "gpt-4o", messages: [{ role: "user", content: "hallo" }] };

  test("prints who answers, or who would have", async () => {
    const fixtures = write("f.json", {
      fixtures: [on({ userMessage: "hello" }, { content: "Hi!" }, { id: "greeting" })],
    });
    const miss = await runCli(["explain", write("miss.json", body), "-f", fixtures]);
    expect([miss.code, miss.stdout]).toEqual([
      1,
      `No fixture matched. The nearest fixtures:\n  greeting (${fixtures}#/fixtures/0): userMessage: expected a text with "hello", but it is "hallo". It would have answered "Hi!".\n`,
    ]);
    const hit = write("hit.json", { path: "/v1/responses", body: { model: "gpt-4o", input: "hello" } });
    const told = await runCli(["explain", hit, "-f", fixtures, "--json"]);
    expect(JSON.parse(told.stdout)).toMatchObject({
      operation: "openai-responses",
      fixture: "greeting",
      answer: '"Hi!"',
    });
    expect(told.code).toBe(0);
  });

  test("refuses what is no request, with a reason", async () => {
    const fixtures = write("f.json", { fixtures: [] });
    const broken = write("broken.json", "{");
    expect((await runCli(["explain", broken, "-f", fixtures])).stderr).toContain(`${broken}: it is not JSON`);
    const list = write("list.json", []);
    const { code, stderr } = await runCli(["explain", list, "-f", fixtures]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("Expected a JSON object: the body of a request")]);
  });
});

test("serve --watch serves what changed, and says what is wrong with it", async () => {
  const file = write("f.json", { fixtures: [on({ userMessage: "hello" }, { content: "one" })] });
  const child = spawn(process.execPath, [
    "dist/cli/main.js",
    "serve",
    file,
    "-p",
    "0",
    "--watch",
    "--validate-on-load",
  ]);
  let output = "";
  const until = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = pattern.exec(output);
        if (found === null) return;
        child.stderr.off("data", look);
        resolve(found);
      };
      child.stderr.on("data", look);
      look();
    });
  child.stderr.setEncoding("utf8").prependListener("data", (text: string) => {
    output += text;
  });
  try {
    const [, url] = await until(/(http:\/\/\S+:\d+)/);
    const ask = async (): Promise<string> => {
      const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hello" }] });
      return (await fetch(`${url}/v1/chat/completions`, { method: "POST", body })).text();
    };
    expect(await ask()).toContain('"one"');
    write("f.json", "{");
    await until(/f\.json:1 it is not JSON.*\nWhat was loaded before is served on\./);
    expect(await ask()).toContain('"one"');
    write("f.json", { fixtures: [on({ userMessage: "hello" }, { content: "two" })] });
    await until(/1 added, 1 removed, 0 as before/);
    expect(await ask()).toContain('"two"');
  } finally {
    child.kill();
  }
});
