import { existsSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { substitute } from "../../conformance/bind.ts";
import { DEFAULT_STOP_GRACE_MS } from "../../conformance/drive.ts";
import { BLANK_DESCRIPTION } from "../../conformance/lint.ts";
import { load } from "../../conformance/load.ts";
import { record, writeCase } from "../../conformance/recording.ts";
import { Tap } from "../../conformance/tap.ts";
import { FIXTURE_DIR } from "../../conformance/transcript.ts";
import { differingPointers, pointersToPaths, suspectPointers } from "../../conformance/volatility.ts";
import { EXIT_NOT_RUN, EXIT_PASSED } from "../../report/verdict.ts";
import { startProcess, stopProcess } from "../../transport/process.ts";
import type { FrameDecoder, Framing } from "../../wire/framing.ts";
import { detectFraming, framings } from "../../wire/framings.ts";
import type { RecordFlags } from "../flags.ts";
import { UsageError } from "../run-verb.ts";
import { refuseRedaction, replayOptions, targetFor } from "./target.ts";

/** Passes a conversation between our stdio and the command, byte by byte, and writes it as a new case. */
export async function tapConversation(suite: string, command: readonly string[], flags: RecordFlags): Promise<number> {
  refuseRedaction(flags);
  const { case: name } = flags;
  if (name === undefined || !/^[\w][\w.-]*$/.test(name))
    throw new UsageError("--tap needs --case NAME: letters, digits, dots, dashes and underscores.");
  if (command.length === 0) throw new UsageError("--tap needs the command to sit in front of: add -- COMMAND.");
  const dir = resolve(suite, name);
  if (existsSync(dir) && !flags.force) throw new UsageError(`${dir} is there already; --force writes over it.`);

  const made = flags.workdir === undefined ? await mkdtemp(join(tmpdir(), `${name}-`)) : undefined;
  const workdir = made ?? resolve(flags.workdir as string);
  const fixture = flags.fixture === undefined ? join(dir, FIXTURE_DIR) : resolve(flags.fixture);
  const tap = new Tap();
  const framing = await passThrough(tap, command, { fixture, workdir }, flags);
  if (made !== undefined) await rm(made, { recursive: true, force: true });
  for (const noise of tap.noise) process.stderr.write(`${name}: left out, since ${noise}.\n`);
  if (tap.requests.length === 0) {
    process.stderr.write(`${name}: nothing was asked, and nothing is written.\n`);
    return EXIT_NOT_RUN;
  }

  const requests = tap.boundRequests({ fixture, workdir });
  const volatile = [...new Set([...(flags.volatile ?? []), ...pointersToPaths(tap.frames, [fixture, workdir])])];
  const description = flags.description ?? `${BLANK_DESCRIPTION}: say which behaviour this case proves.`;
  const write = () =>
    writeCase(dir, tap.manifest(name, description, requests, volatile, framing.name), requests, tap.frames, volatile);
  if (flags.fixture !== undefined) await cp(fixture, join(dir, FIXTURE_DIR), { recursive: true });
  await write();
  for (let run = 1; run < (flags.runs ?? 1); run++) {
    const { workdir: _, ...options } = replayOptions(flags);
    const again = await record(await load(dir), targetFor(command, flags), options);
    if (again.stopped !== "") process.stderr.write(`${name}: run ${run + 1} stopped (${again.stopped}).\n`);
    const differing = differingPointers(tap.frames, again.frames, volatile);
    for (const pointer of differing)
      process.stderr.write(`${name}: ${pointer} differed in run ${run + 1} and is volatile now.\n`);
    volatile.push(...differing);
  }
  if ((flags.runs ?? 1) > 1) await write();
  for (const { pointer, looksLike } of suspectPointers(tap.frames)) {
    if (!volatile.includes(pointer))
      process.stderr.write(`${name}: ${pointer} looks like ${looksLike}; is it volatile?\n`);
  }
  process.stderr.write(`${name}: written to ${dir}, ${requests.length} lines and ${tap.frames.length} frames.\n`);
  return EXIT_PASSED;
}

async function passThrough(
  tap: Tap,
  command: readonly string[],
  paths: { fixture: string; workdir: string },
  flags: RecordFlags,
): Promise<Framing> {
  const [program = "", ...args] = command.map((word) => substitute(word, paths, (path) => path));
  const stopGraceMs = flags.stopGrace ?? DEFAULT_STOP_GRACE_MS;
  let framing: Framing | undefined = flags.framing && framings[flags.framing];
  const child = await startProcess(program, args, { framing: framing ?? framings.lines, stopGraceMs });
  child.stdin.on("error", () => {});
  child.stderr.pipe(process.stderr, { end: false });

  const fromClient = new Listening((text) => tap.fromClient(text), tap.noise);
  const fromAdapter = new Listening((text) => tap.fromAdapter(text), tap.noise);
  process.stdin.on("data", (chunk: Buffer) => {
    framing ??= detectFraming(chunk);
    fromClient.push(chunk, framing);
    if (!child.stdin.write(chunk)) {
      process.stdin.pause();
      child.stdin.once("drain", () => process.stdin.resume());
    }
  });
  child.stdout.on("data", (chunk: Buffer) => {
    fromAdapter.push(chunk, framing);
    process.stdout.write(chunk);
  });
  const outputClosed = new Promise<void>((resolved) => child.stdout.once("close", () => resolved()));
  const inputEnded = new Promise<void>((resolved) => process.stdin.once("end", () => resolved()));
  await Promise.race([inputEnded, outputClosed]);
  process.stdin.pause();
  await stopProcess(child, performance.now() + stopGraceMs);
  await outputClosed;
  process.stdin.destroy();
  fromClient.end();
  fromAdapter.end();
  return framing ?? framings.lines;
}

/** Decodes one direction. What comes before the framing is known waits for it. */
class Listening {
  private decoder: FrameDecoder | undefined;
  private readonly early: Buffer[] = [];
  private readonly frame: (text: string) => void;
  private readonly noise: string[];

  constructor(frame: (text: string) => void, noise: string[]) {
    this.frame = frame;
    this.noise = noise;
  }

  push(chunk: Buffer, framing: Framing | undefined): void {
    this.early.push(chunk);
    if (!framing) return;
    this.decoder ??= framing.decoder();
    for (const bytes of this.early.splice(0)) this.deliver(this.decoder.push(bytes));
  }

  end(): void {
    if (this.decoder) this.deliver(this.decoder.end());
  }

  private deliver(frames: ReturnType<FrameDecoder["push"]>): void {
    for (const frame of frames) {
      if (typeof frame === "string") this.frame(frame);
      else this.noise.push(`it is no frame: ${frame.reason}`);
    }
  }
}
