import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { whyNotStarted } from "../../transport/process.ts";
import { forgetGroup, rememberGroup } from "../../transport/process-group.ts";
import { type Descendants, descendantsOf } from "./descendants.ts";

/** A command could not be started. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  /** As a shell has it: 127 where there is no such command, 126 where it may not be run. */
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

export interface CommandOptions {
  /** Added to this process's environment. */
  env: Readonly<Record<string, string>>;
  /** Milliseconds that processes have to end by themselves once they are told to. */
  stopGraceMs: number;
  /** Ends the command. */
  signal?: AbortSignal;
}

export interface CommandEnding {
  /** 128 and the signal's number where one ended it. */
  code: number;
  /** Whether this process was told to end while the command ran. */
  told: boolean;
  /** Processes that were still running, and were ended. */
  leftBehind: readonly string[];
}

// Whoever sends one of these means the whole job, as a terminal does.
const ENDING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
const OTHERS = ["SIGUSR1", "SIGUSR2", "SIGWINCH"] as const;
const FROM_TERMINAL: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT", "SIGWINCH"];
/** The last is Node's for a command that is an empty text. */
const NO_SUCH: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ERR_INVALID_ARG_VALUE"]);
const LOOK_AGAIN_MS = 10;
const KILLED_WITHIN_MS = 1_000;

/**
 * Runs a command as if it had been started without us: in our terminal, with our signals. Once it has ended, what it
 * has started and left behind is ended too.
 * @throws {CommandError} when it cannot be started
 */
export async function runCommand([file, ...args]: readonly string[], options: CommandOptions): Promise<CommandEnding> {
  // Only who is in a terminal's own group can read from it. Elsewhere a group of its own can be ended as one.
  const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const descendants = descendantsOf();
  let child: ChildProcess | undefined;
  // Before there is a process that it could be lost for.
  const passing = passSignals(() => child, !terminal);
  try {
    child = spawn(file!, args, {
      stdio: "inherit",
      detached: !terminal,
      env: { ...process.env, ...options.env, ...descendants.mark },
    });
    await once(child, "spawn");
  } catch (error) {
    passing.end();
    const fault = error as NodeJS.ErrnoException;
    throw new CommandError(whyNotStarted(file!, undefined, fault), NO_SUCH.has(fault.code!) ? 127 : 126);
  }
  const command = child;
  const group = terminal ? undefined : child.pid!;
  if (group !== undefined) rememberGroup(group);
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const stop = (): void => void endAll(descendants, group, command, options.stopGraceMs);
  options.signal?.addEventListener("abort", stop, { once: true });
  if (options.signal?.aborted) stop();
  const [code, signal] = await exited;
  const leftBehind = await endAll(descendants, group, command, options.stopGraceMs);
  options.signal?.removeEventListener("abort", stop);
  passing.end();
  if (group !== undefined) forgetGroup(group);
  return { code: code ?? 128 + constants.signals[signal!], told: passing.told, leftBehind };
}

/** Hands on the signals that this process gets, until it is ended. */
function passSignals(child: () => ChildProcess | undefined, toGroup: boolean): { told: boolean; end(): void } {
  const passing = { told: false, end: (): void => {} };
  const listeners = known([...ENDING, ...OTHERS]).map((signal): [NodeJS.Signals, () => void] => [
    signal,
    () => {
      const ending = (ENDING as readonly string[]).includes(signal);
      if (ending) passing.told = true;
      const pid = child()?.pid;
      if (pid === undefined) return;
      if (toGroup) send(ending ? -pid : pid, signal);
      // What a terminal sends, it has sent to the command itself.
      else if (!FROM_TERMINAL.includes(signal)) send(pid, signal);
    },
  ]);
  for (const [signal, listener] of listeners) process.on(signal, listener);
  passing.end = () => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  };
  return passing;
}

/** Those that this system has. */
function known(signals: readonly NodeJS.Signals[]): NodeJS.Signals[] {
  return signals.filter((signal) => constants.signals[signal] !== undefined);
}

/**
 * Ends what is left of a command: by request first, by force after the grace.
 * @returns what was left besides the command itself
 */
async function endAll(
  descendants: Descendants,
  group: number | undefined,
  child: ChildProcess,
  graceMs: number,
): Promise<string[]> {
  const told = new Map<number, string>();
  const isOver = async (signal: NodeJS.Signals, withinMs: number): Promise<boolean> => {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const left = descendants.living(group);
      for (const { pid, name } of left) {
        // Those that came since are told too, and each of them once.
        if (signal !== "SIGKILL" && told.has(pid)) continue;
        told.set(pid, name);
        send(pid, signal);
      }
      if (left.length === 0) return true;
      if (performance.now() >= deadline) return false;
      await sleep(LOOK_AGAIN_MS);
    }
  };
  if (!(await isOver("SIGTERM", graceMs))) await isOver("SIGKILL", KILLED_WITHIN_MS);
  told.delete(child.pid!);
  return [...told].map(([pid, name]) => `${name} (${pid})`);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}
