import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { StuntDouble } from "../../src/index.ts";
import { COMMAND, environment, newFolder, startProvider, stuntdouble } from "./support.ts";

const page = readFileSync("docs/running-a-command.md", "utf8");
const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, block]) => block!);

/** Runs lines of documentation where `stuntdouble` and `python` are commands, and Python's agent is there. */
async function ran(script: string, provider?: StuntDouble): Promise<{ code: number; output: string; folder: string }> {
  const folder = newFolder();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const [name, command] of Object.entries({
    stuntdouble: `"${process.execPath}" "${COMMAND}"`,
    python: "python3",
  })) {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${command} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  copyFileSync("test/run/agents/agent.py", join(folder, "agent.py"));
  const env = environment({
    PATH: `${bin}:${process.env["PATH"]}`,
    GITHUB_ENV: join(folder, "github-env"),
    ...(provider && { OPENAI_BASE_URL: `${provider.url}/v1` }),
  });
  const child = spawn("sh", ["-ec", script], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const [code] = (await once(child, "close")) as [number];
  return { code, output, folder };
}

it.each(["docs/running-a-command.md", "README.md"])("the two commands of %s record and replay", async (file) => {
  const script = blocks(readFileSync(file, "utf8"), "sh").find((block) =>
    block.includes("stuntdouble record --scenario"),
  )!;
  expect(script.split("\n").filter((line) => line !== "")).toHaveLength(2);
  const provider = await startProvider();
  const { code, output } = await ran(script, provider);
  const [first, second, ...rest] = output.split("\n\n")[0]!.split(/(?<=evening\.\n)/);
  expect({ code, second, rest: rest.filter((text) => text !== "") }).toEqual({ code: 0, second: first, rest: [] });
  expect(provider.calls()).toHaveLength(2);
});

it("the variables are printed as docs/running-a-command.md says", async () => {
  const script = blocks(page, "sh").find((block) => block.includes("stuntdouble env"))!;
  const { code, folder, output } = await ran(`${script}\necho "$OPENAI_BASE_URL"`);
  expect(code).toBe(0);
  expect(output.trimEnd().split("\n").at(-1)).toBe("http://127.0.0.1:4010/@checkout/v1");
  for (const file of [".env", "github-env"]) expect(existsSync(join(folder, file)), file).toBe(true);
});

it("the price list of docs/running-a-command.md is one", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "prices.json"), blocks(page, "json prices.json")[0]!);
  writeFileSync(join(folder, "broken.json"), '{ "models": { "m": { "output": -1 } }, "more": 1 }');
  const run = (file: string) =>
    stuntdouble(["replay", "--allow-empty", "--prices", file, "--", "true"], { cwd: folder }).ended();
  expect((await run("prices.json")).code).toBe(0);
  const broken = await run("broken.json");
  expect(broken.code).toBe(2);
  expect(
    broken.errors
      .split("\n")
      .slice(1)
      .sort()
      .filter((line) => line !== ""),
  ).toEqual([
    "  / must NOT have additional properties: more",
    "  /models/m must have required property 'input'",
    "  /models/m/output must be >= 0",
  ]);
});

it("the summary reads as docs/running-a-command.md has it", async () => {
  const [documented] = blocks(page, "text");
  const provider = await startProvider();
  const script =
    "stuntdouble record --scenario checkout -- python agent.py; stuntdouble replay --scenario checkout -- python agent.py 2>&1";
  const { output } = await ran(script, provider);
  const shape = (text: string): string => text.replace(/\d+(\.\d+)?( ms| s)?/g, "N");
  expect(shape(output)).toContain(shape(documented!));
});
