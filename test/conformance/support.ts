import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import ts from "typescript";
import { afterAll } from "vitest";

export const SUITES = resolve("test/conformance/suites");
export const PYTHON_ADAPTER = resolve("test/conformance/adapters/mail_adapter.py");

/** The built command. `npm test` builds it first; another build can be named. */
export const CLI = resolve(process.env["STUNTDOUBLE_CLI"] ?? "dist/cli/main.js");
if (!existsSync(CLI)) throw new Error(`${CLI} is not there: run npm run build first.`);

/** A folder that is gone after the file's tests. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "stuntdouble-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The notes adapter as a file that node runs. */
export function compiledAdapter(): string {
  const source = readFileSync("test/conformance/adapters/notes-adapter.ts", "utf8");
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  });
  const file = join(temporaryFolder(), "notes-adapter.mjs");
  writeFileSync(file, outputText);
  return file;
}

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Starts the command. */
export function startCli(args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, [CLI, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
}

/** Runs the command to its end. */
export function runCli(args: readonly string[], input = "", env: Record<string, string> = {}): Promise<Ran> {
  const child = startCli(args, env);
  const ran: Ran = { code: null, stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk: Buffer) => {
    ran.stdout += chunk.toString();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    ran.stderr += chunk.toString();
  });
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);
  return new Promise((done) => child.on("close", (code) => done({ ...ran, code })));
}
