import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Framing } from "../wire/framing.ts";
import { BoundedText } from "./bounded-text.ts";
import { type Channel, type StopReport, streamChannel } from "./channel.ts";
import { TransportError } from "./errors.ts";
import { forgetGroup, groupLives, killGroup, rememberGroup } from "./process-group.ts";

export interface ProcessOptions {
  framing: Framing;
  /** Added to this process's environment; undefined takes a variable away. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The folder it starts in; this process's where not given. */
  cwd?: string | undefined;
  /** How long it may take to end by itself, counted from when its stdin was closed. */
  stopGraceMs: number;
  /** How much of stderr is kept. 64 KiB where not given. */
  stderrBytes?: number | undefined;
  /** Sees stderr as it comes. */
  onStderr?: ((chunk: Buffer) => void) | undefined;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const LOOK_AGAIN_MS = 5;
// A process that exits closes stdout a moment before its exit code is known.
const EXIT_CODE_WAIT_MS = 100;

/** Starts a command without a shell, in a process group of its own. Throws a `TransportError` when it cannot. */
export async function startProcess(command: string, args: readonly string[], options: ProcessOptions): Promise<Child> {
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
  });
  try {
    await once(child, "spawn");
  } catch (error) {
    throw new TransportError(whyNotStarted(command, options.cwd, error as NodeJS.ErrnoException));
  }
  child.on("error", () => {});
  rememberGroup(child.pid as number);
  return child;
}

/** @param cwd the folder that it was to start in, where that is another than this process's */
export function whyNotStarted(command: string, cwd: string | undefined, error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") {
    const where = command.includes("/") ? "there is no such file" : "it was not found on the PATH";
    return `The command "${command}" could not be started: ${where}${cwd ? ` (or its folder ${cwd} does not exist)` : ""}.`;
  }
  if (error.code === "EACCES")
    return `The command "${command}" could not be started: the file may not be executed (chmod +x).`;
  return `The command "${command}" could not be started: ${error.message}.`;
}

/** A started command as a channel over its stdin and stdout. */
export async function processChannel(
  command: string,
  args: readonly string[],
  options: ProcessOptions,
): Promise<Channel> {
  const child = await startProcess(command, args, options);
  const stderr = new BoundedText(options.stderrBytes ?? 64 * 1024);
  child.stderr.on("data", (chunk: Buffer) => {
    stderr.push(chunk);
    options.onStderr?.(chunk);
  });
  child.stderr.on("error", () => {});
  const streams = streamChannel(child.stdout, child.stdin, options.framing);
  let inputClosedAt: number | undefined;
  let stopping: Promise<StopReport> | undefined;
  return {
    halfCloses: true,
    open(events) {
      streams.open({
        ...events,
        end(how) {
          void exitWithin(child, EXIT_CODE_WAIT_MS).then((exited) =>
            events.end(exited ? howItExited(child) : how.replace("the stream", "its stdout")),
          );
        },
      });
    },
    send: (text) => streams.send(text),
    end() {
      inputClosedAt ??= performance.now();
      streams.end();
    },
    stderr: () => stderr.toString(),
    stop() {
      inputClosedAt ??= performance.now();
      stopping ??= stopProcess(child, inputClosedAt + options.stopGraceMs);
      return stopping;
    },
  };
}

/** Closes stdin, lets the process end until `deadline` (as `performance.now` counts), then kills it and its children. */
export async function stopProcess(child: Child, deadline: number): Promise<StopReport> {
  const group = child.pid as number;
  child.stdin.end();
  // What it still writes has nobody to read it; unread it would block the process on a full pipe, and it could not end.
  child.stdout.resume();
  const exited = await exitWithin(child, deadline - performance.now());
  let leftBehind = false;
  if (exited) {
    while (groupLives(group)) {
      if (performance.now() >= deadline) {
        leftBehind = true;
        break;
      }
      await sleep(LOOK_AGAIN_MS);
    }
  }
  killGroup(group);
  if (!exited) await exitWithin(child, Number.POSITIVE_INFINITY);
  forgetGroup(group);
  child.stdout.destroy();
  child.stderr.destroy();
  child.stdin.destroy();
  return { killed: !exited, leftBehind };
}

function exitWithin(child: Child, ms: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(true);
  return new Promise((resolve) => {
    const timer = Number.isFinite(ms) ? setTimeout(() => finish(false), Math.max(0, ms)) : undefined;
    const onExit = () => finish(true);
    const finish = (exited: boolean) => {
      clearTimeout(timer);
      child.off("exit", onExit);
      resolve(exited);
    };
    child.once("exit", onExit);
  });
}

function howItExited(child: Child): string {
  return child.signalCode ? `it was ended by ${child.signalCode}` : `it exited with code ${child.exitCode}`;
}
