import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { FSWatcher } from "chokidar";
import { UsageError } from "../run-verb.ts";

/** Editors write in several steps. */
const SETTLE_MS = 100;
const NOT_WATCHED = /(^|[\\/])(\.[^\\/]+|node_modules|dist|build|coverage|__pycache__)([\\/]|$)/;

export interface WatchOptions {
  paths: readonly string[];
  /** What the run itself writes. */
  ignored: readonly string[];
  /** Told before it waits. */
  waiting(): void;
}

/** @throws {UsageError} for a path that is not there: nobody would be told of a misspelt one */
function checkPaths(paths: readonly string[]): void {
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) throw new UsageError(`--watch ${missing}: there is no such file or folder.`);
}

/**
 * Runs now and after each change, until a run is told to end, or this process is while it waits. A change ends a run
 * that is still going on.
 * @param run resolves to its exit code, and whether it was told to end
 * @returns the last exit code
 * @throws {UsageError} when a path is not there
 */
export async function runOnChange(
  run: (signal: AbortSignal) => Promise<{ code: number; told: boolean }>,
  { paths, ignored, waiting }: WatchOptions,
): Promise<number> {
  checkPaths(paths);
  const { watch } = await import("chokidar");
  const roots = paths.map((path) => resolve(path));
  const own = ignored.map((path) => resolve(path));
  const watcher: FSWatcher = watch(roots, {
    ignoreInitial: true,
    ignored: (file) =>
      own.some((path) => file === path || file.startsWith(`${path}/`)) ||
      roots.some((root) => file.startsWith(`${root}/`) && NOT_WATCHED.test(relative(root, file))),
  });
  await new Promise<void>((ready) => watcher.once("ready", () => ready()));
  let change = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  watcher.on("all", () => {
    clearTimeout(timer);
    timer = setTimeout(() => change.abort(), SETTLE_MS);
  });
  try {
    for (;;) {
      change = new AbortController();
      const { signal } = change;
      const { code, told } = await run(signal);
      if (told) return code;
      waiting();
      if (!signal.aborted && (await changeOrSignal(signal)) === "signal") return code;
    }
  } finally {
    clearTimeout(timer);
    await watcher.close();
  }
}

function changeOrSignal(change: AbortSignal): Promise<"change" | "signal"> {
  return new Promise((resolve) => {
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
    const end = (how: "change" | "signal"): void => {
      for (const signal of signals) process.off(signal, told);
      change.removeEventListener("abort", changed);
      resolve(how);
    };
    const told = (): void => end("signal");
    const changed = (): void => end("change");
    for (const signal of signals) process.on(signal, told);
    change.addEventListener("abort", changed);
  });
}
