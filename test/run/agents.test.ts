import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunReport } from "../../src/cli/run/run-report.ts";
import { environment, newFolder, startProvider, stuntdouble } from "./support.ts";

const agents = new URL("./agents/", import.meta.url);
/** Inside of the repository, where the SDK is found. */
const built = new URL("../.agents/", import.meta.url);

beforeAll(() => {
  const source = readFileSync(new URL("agent.ts", agents), "utf8");
  const { outputText } = ts.transpileModule(source, { compilerOptions: { module: ts.ModuleKind.ESNext, target: 9 } });
  mkdirSync(built, { recursive: true });
  writeFileSync(new URL("agent.mjs", built), outputText);
});
afterAll(() => rmSync(built, { recursive: true, force: true }));

const AGENTS: Record<string, readonly string[]> = {
  "TypeScript, with the official SDK": [process.execPath, new URL("agent.mjs", built).pathname],
  "Python, with its standard library": ["python3", new URL("agent.py", agents).pathname],
  "a shell, with curl": ["sh", new URL("agent.sh", agents).pathname],
};
const SAYS = "[get_weather Paris]\nIt is 18 degrees in Paris, and it will stay so until the evening.\n";

describe.each(Object.keys(AGENTS))("the agent in %s", (name) => {
  const agent = AGENTS[name]!;

  it("is recorded once, and replayed twice with the provider gone", async () => {
    const folder = newFolder();
    const provider = await startProvider();
    const upstream = ["--provider-openai", provider.url];
    const recorded = stuntdouble(["record", "--scenario", "weather", ...upstream, "--", ...agent], { cwd: folder });
    expect(await recorded.ended()).toMatchObject({ code: 0, output: SAYS });
    expect(recorded.errors()).toContain("record weather: 2 calls, 2 recorded, 0 replayed, 0 missed, 0 unused");
    expect(provider.calls()).toHaveLength(2);
    await provider.stop();

    for (const report of ["first.json", "second.html"]) {
      const args = ["replay", "--scenario", "weather", "--report", report, ...upstream, "--", ...agent];
      const replayed = stuntdouble(args, { cwd: folder });
      expect(await replayed.ended()).toMatchObject({ code: 0, output: SAYS });
      expect(replayed.errors()).toContain("replay weather: 2 calls, 0 recorded, 2 replayed, 0 missed, 0 unused");
    }
    const [first, second] = ["first.json", "second.json"].map(
      (file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as RunReport,
    );
    expect(second!.figures).toEqual(first!.figures);
    expect(first!.takes.map(({ tape, model, provider: by }) => ({ tape, model, by }))).toEqual(
      readdirSync(join(folder, "cassettes", "weather")).map((file) => ({
        tape: `weather/${file}`,
        model: "gpt-4o-mini",
        by: "openai",
      })),
    );
    expect(first!.figures.promptTokens).toBeGreaterThan(0);
    expect(first!.figures.notSpent).toBeGreaterThan(0);
  });
});

describe("record", () => {
  it("sends calls where the environment said that the provider is", async () => {
    const provider = await startProvider();
    const env = environment({ OPENAI_BASE_URL: `${provider.url}/v1/` });
    const run = stuntdouble(["record", "--", "sh", AGENTS["a shell, with curl"]![1]!], { cwd: newFolder(), env });
    expect(await run.ended()).toMatchObject({ code: 0, output: SAYS });
    expect(provider.calls().map(({ path }) => path)).toEqual(["/v1/chat/completions", "/v1/chat/completions"]);
  });

  it("keeps that a provider could not be reached", async () => {
    const folder = newFolder();
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    await new Promise((done) => closed.close(done));
    const ask = `curl -s "$OPENAI_BASE_URL/chat/completions" -d '{"model":"m","messages":[]}'; echo`;
    const upstream = ["--provider-openai", `http://127.0.0.1:${port}`];
    const recorded = await stuntdouble(["record", ...upstream, "--", "sh", "-c", ask], { cwd: folder }).ended();
    expect(recorded).toMatchObject({ code: 0, errors: expect.stringContaining("1 call, 1 recorded") });
    const replayed = await stuntdouble(["replay", "--", "sh", "-c", ask], { cwd: folder }).ended();
    expect(replayed).toMatchObject({ code: 0, errors: expect.stringContaining("1 call, 0 recorded, 1 replayed") });
  });

  it("takes a scenario by any name", async () => {
    const folder = newFolder();
    const provider = await startProvider();
    const agent = ["--", ...AGENTS["a shell, with curl"]!];
    const scenario = ["--scenario", "it's a/b: 100 %"];
    const upstream = ["--provider-openai", provider.url];
    expect((await stuntdouble(["record", ...scenario, ...upstream, ...agent], { cwd: folder }).ended()).code).toBe(0);
    const { code, output } = await stuntdouble(["replay", ...scenario, ...agent], { cwd: folder }).ended();
    expect({ code, output }).toEqual({ code: 0, output: SAYS });
  });
});

describe("guards", () => {
  const ask = (text: string): string =>
    `curl -s -o reply -w '%{http_code}' "$OPENAI_BASE_URL/chat/completions" -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"${text}"}]}'`;

  it("block what must not reach the provider", async () => {
    const provider = await startProvider();
    const args = ["record", "--provider-openai", provider.url, "--block", "email", "--", "sh", "-c"];
    const { code, output, errors } = await stuntdouble([...args, ask("hello to ada@lovelace.org")], {
      cwd: newFolder(),
    }).ended();
    expect({ code, output }).toEqual({ code: 0, output: "403" });
    expect(errors).toContain("1 blocked");
    expect(provider.calls()).toHaveLength(0);
  });

  it("are checked before the command starts", async () => {
    const args = ["record", "--block", "no-such-detector", "--", "echo", "started"];
    const { code, output, errors } = await stuntdouble(args, { cwd: newFolder() }).ended();
    expect({ code, output }).toEqual({ code: 2, output: "" });
    expect(errors).toContain("no-such-detector");
    expect(errors).not.toContain("    at ");
  });
});

describe("auto", () => {
  const hello = `curl -s "$OPENAI_BASE_URL/chat/completions" -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"hello"}]}'`;

  it("records what is not there, and replays what is", async () => {
    const folder = newFolder();
    const provider = await startProvider();
    const args = ["auto", "--scenario", "s", "--provider-openai", provider.url, "--", "sh", "-c", hello];
    const first = await stuntdouble(args, { cwd: folder }).ended();
    expect(first.errors).toContain("1 call, 1 recorded, 0 replayed");
    const second = await stuntdouble(args, { cwd: folder }).ended();
    expect(second.errors).toContain("1 call, 0 recorded, 1 replayed");
    expect(second.output).toBe(first.output);
    expect(provider.calls()).toHaveLength(1);
  });

  it("records nothing where CI is set, and the miss fails the run", async () => {
    const provider = await startProvider();
    const env = environment({ CI: "true" });
    const args = ["auto", "--scenario", "s", "--provider-openai", provider.url, "--", "sh", "-c", hello];
    const { code, errors } = await stuntdouble(args, { cwd: newFolder(), env }).ended();
    expect(code).toBe(1);
    expect(errors).toContain("CI is set: cassettes are replayed");
    expect(errors).toContain("replay s: 1 call, 0 recorded, 0 replayed, 1 missed");
    expect(errors).toContain(
      'missed POST /v1/chat/completions: No fixture matched. There is no cassette of the scenario "s"',
    );
    expect(provider.calls()).toHaveLength(0);
  });
});
