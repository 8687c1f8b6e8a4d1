import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { StuntDoubleOptions } from "../../src/index.ts";

const LIBRARY = pathToFileURL(resolve(process.env["STUNTDOUBLE_LIBRARY"] ?? "dist/index.js")).href;

/** A double in a process of its own. */
export interface RecorderProcess {
  url: string;
  stop(): Promise<RecorderReport>;
  kill(): void;
}

export interface RecorderReport {
  /** What could not be written. */
  failure?: string;
  warnings: string[];
  /** The most memory that it had at once. */
  mostKilobytes: number;
}

/** @param environment variables, over those of this process */
export async function startRecorder(
  options: StuntDoubleOptions,
  environment: Readonly<Record<string, string>> = {},
): Promise<RecorderProcess> {
  const child = fork("test/support/recorder.mjs", [LIBRARY, JSON.stringify(options)], {
    env: { ...process.env, ...environment },
  });
  const { url } = await answer<{ url: string }>(child);
  return {
    url,
    stop: () => {
      child.send("stop");
      return answer<RecorderReport>(child);
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

async function answer<Message>(child: ChildProcess): Promise<Message> {
  const [message] = await Promise.race([
    once(child, "message"),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`The recorder ended with ${code}.`))),
  ]);
  return message as Message;
}
