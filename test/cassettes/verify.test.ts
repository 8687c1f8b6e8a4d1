import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { UserRules } from "../../src/cassettes/user-rules.ts";
import { verifyFile } from "../../src/cassettes/verify.ts";
import { formatDifference } from "../../src/report/difference.ts";
import { dialects } from "../../src/services/registry.ts";

const CLI = process.env["STUNTDOUBLE_CLI"] ?? "dist/cli/main.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
function copied(): string {
  const folder = mkdtempSync(join(tmpdir(), "stuntdouble-verify-"));
  folders.push(folder);
  cpSync("examples/cassettes", folder, { recursive: true });
  return folder;
}

const operations = dialects.flatMap((dialect) => dialect.operations);
const verify = (file: string, rules = new UserRules()) => verifyFile(file, ".", { operations, rules });
const statuses = async (name: string) => (await verify(`examples/cassettes/${name}.json`)).map(({ status }) => status);

describe("verification", () => {
  it("passes the examples that have a raw payload, and says of the others that nothing speaks for them", async () => {
    expect(await statuses("text-stream")).toEqual(["passed"]);
    expect(await statuses("unary")).toEqual(["passed"]);
    expect(await statuses("tool-call")).toEqual(["passed"]);
    expect(await statuses("five-takes")).toEqual(Array(5).fill("passed"));
    const [killed] = await verify("examples/cassettes/kill-switch.json");
    expect(killed).toMatchObject({ status: "skipped", notes: ["unverified: there is no raw payload"] });
  });

  it.each([
    ["text-stream", '"chunk": "a towel, "', '"chunk": "a tower, "', "/response_timeline/1/chunk"],
    [
      "text-stream",
      '"finish_reason": "end_turn"',
      '"finish_reason": "max_tokens"',
      "/response_timeline/2/finish_reason",
    ],
    ["tool-call", '"name": "get_tide_times"', '"name": "get_times"', "/response_timeline/0/tool_calls/0/function/name"],
    [
      "unary",
      '"prompt_tokens": 13,\n        "completion_tokens": 3',
      '"prompt_tokens": 12,\n        "completion_tokens": 4',
      "/usage/prompt_tokens",
    ],
  ])("of %s finds what was edited: %s", async (name, before, after, pointer) => {
    const folder = copied();
    const file = join(folder, `${name}.json`);
    writeFileSync(file, readFileSync(file, "utf8").replace(before, after));
    const [verdict] = await verify(file);
    expect(verdict?.status).toBe("failed");
    expect(verdict?.differences.map(({ pointer: place }) => place.replace(/^\/traces\/[0-9a-f]{32}/, ""))).toContain(
      pointer,
    );
    expect(verdict?.differences.map(formatDifference).join("\n")).toContain("the raw payload says something else");
  });

  it("reads a provider that a user has added", async () => {
    const folder = copied();
    const file = join(folder, "unary.json");
    const cassette = readFileSync(file, "utf8")
      .replace('"provider": "openai"', '"provider": "acme-eu"')
      .replace(
        /"sync_response": \{[\s\S]*?\n {8}\}/,
        '"sync_response": {"say": "Lisbon.", "in": 13, "out": 3, "why": "enough"}',
      );
    writeFileSync(file, cassette);
    expect((await verify(file))[0]).toMatchObject({ status: "skipped" });
    const rules = await UserRules.load(["examples/rules/acme.json"], new Map());
    expect((await verify(file, rules))[0]).toMatchObject({ status: "passed", differences: [] });
  });
});

describe("the command", () => {
  const run = (...args: string[]) => spawnSync(process.execPath, [CLI, ...args], { encoding: "utf8" });

  it("exits 0 when all is right, 1 when something differs, 2 when nothing was checked", { timeout: 60_000 }, () => {
    const folder = copied();
    const good = run("verify", folder, "--reporter", "json");
    expect(good.stderr).toBe("");
    expect(good.status).toBe(0);
    expect(JSON.parse(good.stdout)).toMatchObject({ passed: 8, failed: 0, skipped: 1 });
    expect(run("verify", join(folder, "kill-switch.json")).status).toBe(2);
    const shown = run("cassettes", "show", join(folder, "text-stream.json"));
    expect(shown.stdout).toContain('"Sunscreen, "');
    expect(run("cassettes", "list", folder).stdout).toContain("five-takes.json");
    const differing = run("cassettes", "diff", join(folder, "five-takes.json"));
    expect(differing.status).toBe(1);
    expect(differing.stdout).toContain('text: "Tails!" -> "It landed on its edge."');
    writeFileSync(join(folder, "unary.json"), '{"latest_trace_id": "');
    const bad = run("verify", folder);
    expect(bad.status).toBe(1);
    expect(bad.stdout).toContain("unary.json");
  });
});
