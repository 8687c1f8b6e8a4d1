import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

const COMMAND = new URL("../../dist/cli/main.js", import.meta.url).pathname;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "stuntdouble-aimock-"));
  write("greeting.json", { fixtures: [{ match: { userMessage: "hello" }, response: { content: "Hi!" } }] });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

function write(file: string, content: unknown): void {
  writeFileSync(join(folder, file), typeof content === "string" ? content : JSON.stringify(content));
}

interface Run {
  child: ChildProcess;
  output(): string;
}

function run(flags: string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [COMMAND, ...flags], { cwd: folder, env: { ...process.env, ...env } });
  running.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  return { child, output: () => output };
}

async function served({ child, output }: Run): Promise<string> {
  for (;;) {
    const found = /https?:\/\/[\w.:[\]]+/.exec(output());
    if (found !== null) return found[0];
    const ended = once(child, "close").then(() => Promise.reject(new Error(output())));
    await Promise.race([once(child.stderr!, "data"), ended]);
  }
}

async function ask(url: string, content = "hello", headers: Record<string, string> = {}): Promise<Response> {
  const body = JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content }] });
  return fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
}

describe("the command with what aimock is given", () => {
  it("serves without a verb, by aimock's flags", async () => {
    const flags = ["-p", "0", "-h", "127.0.0.1", "-f", "greeting.json", "-l", "0", "-c", "5", "--validate-on-load"];
    const url = await served(run([...flags, "--metrics", "--journal-max", "10", "--log-level", "info"]));
    expect((await (await ask(url)).json()).choices[0].message.content).toBe("Hi!");
  });

  it("reads aimock.json; the command line wins over it", async () => {
    write("aimock.json", {
      port: 0,
      metrics: true,
      strict: true,
      auth: { apiKeys: ["good"] },
      llm: { fixtures: "greeting.json", chunkSize: 2, latency: 0, logLevel: "info", chaos: { dropRate: 1 } },
    });
    const key = { "x-api-key": "good" };
    const url = await served(run(["--config", "aimock.json", "--chaos-drop", "0"]));
    expect((await ask(url)).status).toBe(401);
    expect((await ask(url, "hello", key)).status).toBe(200);
    expect((await ask(url, "who?", key)).status).toBe(503);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain("aimock_requests_total");
    const dropping = await served(run(["--config", "aimock.json"], { AIMOCK_API_KEYS: "other,third" }));
    expect((await ask(dropping, "hello", key)).status).toBe(401);
    expect((await ask(dropping, "hello", { authorization: "Bearer third" })).status).toBe(500);
  });

  it.each<[string, unknown, RegExp[]]>([
    [
      "sections that are not there yet",
      { mcp: { tools: [] }, vector: {}, llm: {} },
      [/\/mcp: there is no mcp here yet/, /\/vector: /],
    ],
    [
      "everything that is wrong, at once",
      { prot: 1, llm: { latency: "fast", logLevel: "loud", chaos: { dropRate: 2 } }, auth: { apiKeys: "x" } },
      [
        /\/prot: unknown; there are .*port/,
        /\/llm\/latency: expected a number that is not negative, but it is "fast"/,
        /\/llm\/logLevel: expected one of silent, warn, info, debug/,
        /\/llm\/chaos\/dropRate: expected a number from 0 to 1, but it is 2/,
        /\/auth\/apiKeys: expected a list of strings/,
      ],
    ],
    ["what is no JSON", "{ port: ", [/it is not JSON/]],
    ["what is no object", [], [/expected an object, but it is an array/]],
  ])("refuses %s", async (_, config, messages) => {
    write("bad.json", config);
    const { child, output } = run(["--config", "bad.json"]);
    const [code] = await once(child, "close");
    expect(code).toBe(2);
    for (const message of messages) expect(output()).toMatch(message);
  });

  it("says when the file is not there", async () => {
    const { child, output } = run(["--config", "missing.json"]);
    expect((await once(child, "close"))[0]).toBe(2);
    expect(output()).toMatch(/--config: cannot read missing.json/);
  });

  it("converts", async () => {
    write("rules.yaml", "rules:\n  - path: /v1/chat/completions\n    response: { status: 418, content: '{}' }\n");
    const { child, output } = run(["convert", "mockllm", "rules.yaml", "out.json"]);
    expect((await once(child, "close"))[0]).toBe(0);
    expect(output()).toContain("1 fixture written to out.json");
    const linted = run(["lint", "out.json"]);
    expect((await once(linted.child, "close"))[0]).toBe(0);
    const wrong = run(["convert", "postman", "rules.yaml", "out.json"]);
    expect((await once(wrong.child, "close"))[0]).toBe(2);
    expect(wrong.output()).toMatch(/Allowed choices are aimock, mockllm/);
  });
});
