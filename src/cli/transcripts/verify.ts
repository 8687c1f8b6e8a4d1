import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { load } from "../../conformance/load.ts";
import { writeRecording } from "../../conformance/recording.ts";
import { type Result, replay } from "../../conformance/replay.ts";
import type { Target } from "../../conformance/target.ts";
import { verify } from "../../conformance/verify.ts";
import { differingPointers } from "../../conformance/volatility.ts";
import { EXIT_DIFFERENCES, EXIT_PASSED, exitCodeOf, summarize, type Verdict } from "../../report/verdict.ts";
import type { VerifyFlags } from "../flags.ts";
import { reportersFor } from "../reporting.ts";
import { runVerb, UsageError } from "../run-verb.ts";
import { replayOptions, targetFor } from "./target.ts";

/** Editors write a file in several steps; what comes within this time is one change. */
const SETTLE_MS = 100;

export async function verifyTranscripts(path: string, command: readonly string[], flags: VerifyFlags): Promise<number> {
  if (flags.watch && flags.update)
    throw new UsageError("--watch and --update exclude one another: each recording would start the next run.");
  const target = targetFor(command, flags);
  const run = () => runOnce(path, target, flags);
  return flags.watch ? watch(path, command, run) : run();
}

async function runOnce(path: string, target: Target, flags: VerifyFlags): Promise<number> {
  const reporter = reportersFor(flags.reporter);
  const startedAt = performance.now();
  let skipped: string[] = [];
  const results = await verify(path, target, {
    ...replayOptions(flags),
    filter: flags.filter === undefined ? undefined : nameFilter(flags.filter),
    jobs: flags.jobs,
    bail: flags.bail,
    onBegin: (transcripts) => {
      skipped = transcripts.map((transcript) => transcript.dir);
      reporter.begin(path, transcripts.length);
    },
    onResult: (result) => reporter.verdict(verdictOf(result)),
  });
  const verdicts = results.map(verdictOf);
  // With --bail some cases were not run. They are said to be skipped: a list that is just shorter looks complete.
  const ran = new Set(results.map((result) => result.dir));
  for (const dir of skipped.filter((dir) => !ran.has(dir))) {
    const verdict = skippedVerdict(dir);
    verdicts.push(verdict);
    reporter.verdict(verdict);
  }
  const summary = summarize(path, verdicts, performance.now() - startedAt);
  reporter.end(summary);
  const failed = results.filter((result) => !result.ok);
  if (flags.update && failed.length > 0) return update(failed, target, flags);
  return exitCodeOf(summary);
}

/** Records what differed, and runs it once more: what differs again is volatile, and the recording would fail next time. */
async function update(failed: readonly Result[], target: Target, flags: VerifyFlags): Promise<number> {
  let left = 0;
  for (const result of failed) {
    if (result.stopped !== "") {
      process.stderr.write(`${result.case}: not recorded, since it is not whole (${result.stopped}).\n`);
      left++;
      continue;
    }
    await writeRecording(result.dir, result.responses, result.volatile);
    const again = await replay(await load(result.dir), target, replayOptions(flags));
    process.stderr.write(`${result.case}: recorded, ${result.responses.length} frames.\n`);
    if (again.ok) continue;
    left++;
    const pointers = differingPointers(result.responses, again.responses, result.volatile);
    process.stderr.write(
      `${result.case}: the next run differs from what was recorded${pointers.length > 0 ? `; these may be volatile: ${pointers.join(" ")}` : ""}.\n`,
    );
  }
  return left > 0 ? EXIT_DIFFERENCES : EXIT_PASSED;
}

/** Runs now and after each change, until the process is ended. */
async function watch(path: string, command: readonly string[], run: () => Promise<number>): Promise<number> {
  const { watch: watchFiles } = await import("chokidar");
  const files = [path, ...command.filter((word) => existsSync(word))].map((file) => resolve(file));
  const watcher = watchFiles(files, {
    ignoreInitial: true,
    ignored: (file) => /[\\/](node_modules|\.git)([\\/]|$)/.test(file),
  });
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const start = () => {
    running = running
      .then(() => runVerb(run))
      .then(() => process.stdout.write("Waiting for changes; Ctrl-C ends it.\n"))
      .then(() => {});
  };
  watcher.on("all", () => {
    clearTimeout(timer);
    timer = setTimeout(start, SETTLE_MS);
  });
  await new Promise<void>((ready) => watcher.once("ready", () => ready()));
  start();
  return new Promise(() => {});
}

function verdictOf(result: Result): Verdict {
  return {
    case: result.case,
    status: result.ok ? "passed" : "failed",
    durationMs: result.durationMs,
    differences: result.differences,
    notes: result.notes,
    stderr: result.stderr,
    file: result.dir,
  };
}

function skippedVerdict(dir: string): Verdict {
  const name = dir.slice(dir.lastIndexOf("/") + 1);
  return {
    case: name,
    status: "skipped",
    durationMs: 0,
    differences: [],
    notes: ["not run: --bail, and a case before it failed"],
    stderr: "",
    file: dir,
  };
}

/** Accepts cases with the text in their name; `*` stands for anything, and the whole name has to match then. */
function nameFilter(text: string): (transcript: { manifest: { case: string } }) => boolean {
  if (!text.includes("*")) return ({ manifest }) => manifest.case.includes(text);
  const pattern = new RegExp(`^${text.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/\*+/g, ".*")}$`);
  return ({ manifest }) => pattern.test(manifest.case);
}
