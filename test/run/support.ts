import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { StuntDouble } from "../../src/index.ts";

export const COMMAND = new URL("../../dist/cli/main.js", import.meta.url).pathname;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "stuntdouble-run-test-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What the agents are told by a provider that is no longer there when they are replayed. */
export async function startProvider(): Promise<StuntDouble> {
  const double = await StuntDouble.start({
    fixtures: [
      {
        match: { userMessage: "weather in Paris", hasToolResult: false },
        response: { toolCalls: [{ name: "get_weather", arguments: { city: "Paris" } }] },
      },
      {
        match: { userMessage: "weather in Paris", hasToolResult: true },
        response: { content: "It is 18 degrees in Paris, and it will stay so until the evening." },
      },
      { match: { userMessage: "hello" }, response: { content: "Hi!" } },
    ],
    chunkSize: 7,
  });
  cleanups.push(() => double.stop());
  return double;
}

export interface Run extends ChildProcess {
  output(): string;
  errors(): string;
  /** Waits until stdout has it. */
  says(text: string): Promise<void>;
  /** Waits until stderr has it. */
  tells(text: string): Promise<void>;
  ended(): Promise<{ code: number | null; output: string; errors: string }>;
}

/** The environment of a run: no base URL but ours, and no pipeline. */
export function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { CI: _, ...ours } = process.env;
  return { ...ours, OPENAI_API_KEY: "test", NO_COLOR: "1", ...more };
}

export function stuntdouble(args: readonly string[], options: SpawnOptions = {}): Run {
  const child = spawn(process.execPath, [COMMAND, ...args], { env: environment(), ...options });
  cleanups.push(() => child.kill("SIGKILL"));
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]!.setEncoding("utf8");
    child[name]!.on("data", (text: string) => {
      texts[name] += text;
    });
  }
  const closed = once(child, "close") as Promise<[number | null]>;
  const has = async (name: "stdout" | "stderr", text: string): Promise<void> => {
    while (!texts[name].includes(text)) {
      const ended = closed.then(() => {
        if (!texts[name].includes(text)) throw new Error(`${name} has no ${text}:\n${texts.stdout}\n${texts.stderr}`);
      });
      await Promise.race([once(child[name]!, "data"), ended]);
    }
  };
  return Object.assign(child, {
    output: () => texts.stdout,
    errors: () => texts.stderr,
    says: (text: string) => has("stdout", text),
    tells: (text: string) => has("stderr", text),
    ended: async () => ({ code: (await closed)[0], output: texts.stdout, errors: texts.stderr }),
  });
}
