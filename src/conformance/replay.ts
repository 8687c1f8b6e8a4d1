import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cut, type Difference } from "../report/difference.ts";
import { framings } from "../wire/framings.ts";
import { bind } from "./bind.ts";
import { compareRead } from "./compare.ts";
import {
  DEFAULT_DRAIN_TIMEOUT_MS,
  DEFAULT_RESPONSE_TIMEOUT_MS,
  DEFAULT_STOP_GRACE_MS,
  type DriveResult,
  drive,
  formatMs,
} from "./drive.ts";
import { type Plan, planOf } from "./plan.ts";
import { openTarget, type Target } from "./target.ts";
import { type Bindings, fixtureOf, type Transcript } from "./transcript.ts";

export interface ReplayOptions {
  /** The folder in which each case's `${WORKDIR}` is made; the system's temporary folder where not given. */
  workdir?: string | undefined;
  /** Leaves the case's workdir behind, to be looked at. */
  keepWorkdir?: boolean | undefined;
  responseTimeoutMs?: number | undefined;
  drainTimeoutMs?: number | undefined;
  stopGraceMs?: number | undefined;
}

/** What one case did. */
export interface Result {
  case: string;
  /** Absolute path of the case folder. */
  dir: string;
  ok: boolean;
  /** The frames that the adapter wrote, in its order, unmasked. */
  responses: readonly string[];
  /** The case's volatile pointers, for whoever records the responses. */
  volatile: readonly string[];
  stderr: string;
  /** Why not every line was sent or answered; empty when all was. */
  stopped: string;
  differences: readonly Difference[];
  /** What a reader should know and what is no difference. */
  notes: readonly string[];
  durationMs: number;
}

/**
 * Drives one transcript against the target and compares what comes back.
 *
 * @throws SuiteError for a transcript that cannot be replayed, TransportError for a target that cannot be started, and
 * what the file system throws for a workdir that cannot be made. All that the adapter does wrong is in the result.
 */
export async function replay(transcript: Transcript, target: Target, options: ReplayOptions = {}): Promise<Result> {
  const startedAt = performance.now();
  const plan = planOf(transcript);
  const { manifest } = transcript;
  const { result, stderr, workdir } = await perform(transcript, plan, target, options);
  const differences = [
    ...noiseDifferences(manifest.case, result),
    ...compareRead(manifest.case, plan.frames, plan.masked, result.frames, manifest.volatile, manifest.order),
  ];
  if (result.stop.leftBehind)
    differences.push(
      exchangeDifference(manifest.case, "processes that the adapter had started outlived it; they were killed"),
    );
  if (result.stopped !== "" && differences.length === 0)
    differences.push(exchangeDifference(manifest.case, result.stopped));
  const notes: string[] = [];
  if (result.stopped !== "") notes.push(`stopped: ${result.stopped}`);
  if (result.stop.killed)
    notes.push(
      `the adapter did not end within ${formatMs(options.stopGraceMs ?? DEFAULT_STOP_GRACE_MS)} after its stdin was closed, and was killed`,
    );
  if (options.keepWorkdir) notes.push(`workdir: ${workdir}`);
  return {
    case: manifest.case,
    dir: transcript.dir,
    ok: differences.length === 0,
    responses: result.frames.map(({ text }) => text),
    volatile: manifest.volatile,
    stderr,
    stopped: result.stopped,
    differences,
    notes,
    durationMs: performance.now() - startedAt,
  };
}

/** Starts the target, drives the requests of a case against it and stops it, in a workdir of its own. */
export async function perform(
  transcript: Transcript,
  plan: Plan,
  target: Target,
  options: ReplayOptions,
): Promise<{ result: DriveResult; stderr: string; workdir: string }> {
  const workdirs = resolve(options.workdir ?? tmpdir());
  await mkdir(workdirs, { recursive: true });
  const workdir = await mkdtemp(join(workdirs, `${transcript.manifest.case}-`));
  try {
    const bindings: Bindings = { fixture: fixtureOf(transcript), workdir };
    const texts = bind(transcript, bindings);
    const channel = await openTarget(target, {
      case: transcript.manifest.case,
      bindings,
      framing: framings[transcript.manifest.framing],
      stopGraceMs: options.stopGraceMs ?? DEFAULT_STOP_GRACE_MS,
    });
    const result = await drive(channel, {
      flow: transcript.manifest.flow,
      lines: plan.lines.map((planned, index) => ({ planned, text: texts[index] as string })),
      recorded: plan.frames,
      responseTimeoutMs: options.responseTimeoutMs ?? DEFAULT_RESPONSE_TIMEOUT_MS,
      drainTimeoutMs: options.drainTimeoutMs ?? DEFAULT_DRAIN_TIMEOUT_MS,
    });
    return { result, stderr: channel.stderr(), workdir };
  } finally {
    if (!options.keepWorkdir) await rm(workdir, { recursive: true, force: true });
  }
}

function noiseDifferences(name: string, result: DriveResult): Difference[] {
  return result.noise.map(({ after, noise }) => ({
    case: name,
    response: after + 1,
    pointer: "",
    want: "",
    got: noise.noise === "" ? "" : cut(JSON.stringify(noise.noise)),
    detail: `this was written where only frames may be: ${noise.reason}`,
  }));
}

function exchangeDifference(name: string, detail: string): Difference {
  return { case: name, response: 0, pointer: "", want: "", got: "", detail };
}
