import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { StuntDouble } from "../../src/index.ts";
import { CHAT, completion, filesIn, json, latest, newFolder, post, provider, read } from "./support.ts";

const CLI = resolve(process.env["STUNTDOUBLE_CLI"] ?? "dist/cli/main.js");
const page = readFileSync("docs/cassettes.md", "utf8");
/** The commands of the page's first example. */
const [RECORD, REPLAY, VERIFY] = [...page.matchAll(/^stuntdouble (.*)$/gm)].map(([, words]) => words!.split(" "));

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** A server that runs in a folder of its own, as a user starts it. */
async function serving(cwd: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const { CI: _, VCR_MODE: __, VCR_INCLUDE_RAW: ___, FORCE_COLOR: ____, ...rest } = process.env;
  const child = spawn(process.execPath, [CLI, ...args, "--port", "0"], {
    cwd,
    env: { ...rest, NO_COLOR: "1", ...environment },
  });
  children.push(child);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
  await expect.poll(() => said, { timeout: 20_000 }).toMatch(/on http:\S+/);
  return {
    url: /on (http:\S+)/.exec(said)![1]!,
    said: () => said,
    async stop(): Promise<number | null> {
      child.kill("SIGTERM");
      const [code] = (await once(child, "close")) as [number | null];
      return code;
    },
  };
}

describe("stuntdouble serve", { timeout: 60_000 }, () => {
  it("records, replays and verifies as docs/cassettes.md shows it", async () => {
    const cwd = newFolder();
    const url = await provider(json(completion("Sunny")));
    const live = await serving(cwd, [...RECORD!, "--provider-openai", url]);
    expect(await (await post(live.url, CHAT)).text()).toBe(completion("Sunny"));
    expect(await live.stop()).toBe(0);
    expect(filesIn(join(cwd, "cassettes"))).toEqual([expect.stringMatching(/^checkout\/01-weather-in-paris-/)]);
    const replay = await serving(cwd, REPLAY!);
    expect(await (await post(replay.url, CHAT)).text()).toBe(completion("Sunny"));
    expect(await replay.stop()).toBe(0);
    expect(replay.said()).toContain("served 1 call");
    const idle = await serving(cwd, REPLAY!);
    expect(await idle.stop()).toBe(1);
    expect(idle.said()).toContain("Nothing was recorded and nothing replayed (./cassettes, mode replay).");
    expect(spawnSync(process.execPath, [CLI, ...VERIFY!], { cwd }).status).toBe(0);
  });

  it("takes mode and raw layer from the environment, replays under CI and says so", async () => {
    const cwd = newFolder();
    const url = await provider(json(completion("Sunny")));
    const live = await serving(cwd, ["serve", "--provider-openai", url], { VCR_MODE: "record", VCR_INCLUDE_RAW: "0" });
    await (await post(live.url, CHAT)).text();
    expect(await live.stop()).toBe(0);
    const folder = join(cwd, "cassettes");
    expect(latest(read(folder, filesIn(folder)[0]!)).raw_payload).toBeUndefined();
    const inPipeline = await serving(cwd, ["serve", "--vcr", "auto", "--provider-openai", url], { CI: "true" });
    expect(inPipeline.said()).toContain("CI is set: cassettes are replayed");
    expect((await post(inPipeline.url, { ...CHAT, model: "new" })).status).toBe(404);
    expect((await post(inPipeline.url, CHAT)).status).toBe(200);
    expect(await inPipeline.stop()).toBe(0);
    expect(filesIn(folder)).toHaveLength(1);
  });

  it("lists what nobody asked for, and removes it with --prune", async () => {
    const cwd = newFolder();
    mkdirSync(join(cwd, "cassettes"));
    for (const name of ["unary.json", "tool-call.json"]) {
      cpSync(join("examples/cassettes", name), join(cwd, "cassettes", name));
    }
    const { model, messages } = latest(read(join(cwd, "cassettes"), "unary.json")).request_context;
    const { scenario } = read(join(cwd, "cassettes"), "unary.json");
    for (const [flags, left] of [
      [[], ["tool-call.json", "unary.json"]],
      [["--prune"], ["unary.json"]],
    ] as const) {
      const replay = await serving(cwd, ["serve", "--vcr", "replay", "--scenario", scenario, ...flags]);
      expect((await post(replay.url, { model, messages })).status).toBe(200);
      expect(await replay.stop()).toBe(0);
      expect(replay.said()).toContain("unused cassette tool-call.json");
      expect(filesIn(join(cwd, "cassettes"))).toEqual(left);
    }
  });

  it("does not start with cassettes that it cannot use", () => {
    const cwd = newFolder();
    mkdirSync(join(cwd, "cassettes"));
    writeFileSync(join(cwd, "cassettes", "cassettes.json"), '{"match":"loosely"}');
    const { status, stderr } = spawnSync(process.execPath, [CLI, ...REPLAY!, "--port", "0"], { cwd, encoding: "utf8" });
    expect(status).toBe(2);
    expect(stderr).toContain("expected one of exact, messages, last-message, position");
  });
});

describe("stuntdouble cassettes", { timeout: 60_000 }, () => {
  it("merges, renames and migrates", () => {
    const [from, into] = [newFolder(), newFolder()];
    cpSync("examples/cassettes/unary.json", join(from, "unary.json"));
    cpSync("examples/cassettes/tool-call.json", join(into, "tool-call.json"));
    const run = (...args: string[]): [number | null, string] => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, "cassettes", ...args], { encoding: "utf8" });
      return [status, stdout + stderr];
    };
    expect(run("merge", from, into)).toEqual([0, `${join(into, "unary.json")}\n`]);
    const { scenario } = read(into, "unary.json");
    expect(run("rename", into, scenario, "Another")).toEqual([0, "1 cassettes are of the scenario Another now.\n"]);
    expect(read(into, "unary.json").scenario).toBe("Another");
    expect(run("rename", into, "none", "x")[0]).toBe(2);
    expect(run("migrate", into)).toEqual([0, `${join(into, "tool-call.json")}\n${join(into, "unary.json")}\n`]);
    expect(run("migrate", into)).toEqual([0, "Nothing had to be changed.\n"]);
    expect(run("list", into)[1]).toContain("Another");
    expect(run("show", join(into, "none.json"))[0]).toBe(2);
  });
});

describe("docs/cassettes.md", () => {
  it("shows how to do it in TypeScript", async () => {
    const folder = newFolder();
    const [, code] = /```ts\n([\s\S]*?)```/.exec(page)!;
    const url = await provider(json(completion("Sunny")));
    const live = await StuntDouble.start({
      record: { providers: { openai: url } },
      cassettes: { mode: "record", folder, scenario: "checkout" },
    });
    await (await post(live.url, CHAT)).text();
    await live.stop();
    const body = code!
      .replace(/^import .*$/m, "")
      .replace('"./cassettes"', JSON.stringify(folder))
      .replace(/^\/\/ … .*$/m, "await use(double);");
    const run = new Function("StuntDouble", "use", `return (async () => {${body}})();`);
    let text: string | undefined;
    await run(StuntDouble, async (double: StuntDouble) => {
      text = await (await post(double.url, CHAT)).text();
    });
    expect(text).toBe(completion("Sunny"));
  });
});
