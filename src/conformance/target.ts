import type { Readable, Writable } from "node:stream";
import { type Address, parseAddress } from "../transport/address.ts";
import { type Channel, STOPPED_CLEANLY, streamChannel } from "../transport/channel.ts";
import { dial } from "../transport/dial.ts";
import { processChannel } from "../transport/process.ts";
import type { Framing } from "../wire/framing.ts";
import { substitute } from "./bind.ts";
import type { Bindings } from "./transcript.ts";

/** What a target is told when it is to start. */
export interface TargetContext {
  case: string;
  bindings: Bindings;
  framing: Framing;
  /** How long a process may take to end by itself once its stdin is closed. */
  stopGraceMs: number;
}

/** A running adapter as a pair of streams. */
export interface Process {
  stdin: Writable;
  stdout: Readable;
  /** What it has logged so far; attached to a failure, never parsed. */
  stderr?(): string;
  /** Has to guarantee that the adapter and its stdout are gone when it is done. */
  stop?(): void | Promise<void>;
}

/**
 * Starts the adapter, afresh for each case. It is a function rather than a command, so that the same engine drives a
 * program, a service and something that lives in this process. Throws when it cannot start: that is a fault of the run.
 */
export type Target = (context: TargetContext) => Channel | Process | Promise<Channel | Process>;

export interface CommandOptions {
  /** Added to this process's environment. */
  env?: Readonly<Record<string, string | undefined>>;
  /** The folder it starts in. */
  cwd?: string;
}

/** The arguments may hold `${FIXTURE}` and `${WORKDIR}`, for adapters that are told their folders at the start. */
export function command(name: string, args: readonly string[] = [], options: CommandOptions = {}): Target {
  return ({ bindings, framing, stopGraceMs }) => {
    const bound = args.map((arg) => substitute(arg, bindings, (path) => path));
    return processChannel(name, bound, { ...options, framing, stopGraceMs });
  };
}

/** A target that is already running: `unix:…`, `tcp://…`, `http(s)://…` or `ws(s)://…`. Each case has a connection of its own. */
export function service(address: string | Address, headers?: Readonly<Record<string, string>>): Target {
  const parsed = typeof address === "string" ? parseAddress(address) : address;
  return ({ framing }) => dial(parsed, { framing, headers });
}

/** Starts the target and gives its conversation. */
export async function openTarget(target: Target, context: TargetContext): Promise<Channel> {
  const started = await target(context);
  if ("open" in started) return started;
  const channel = streamChannel(started.stdout, started.stdin, context.framing);
  return {
    ...channel,
    stderr: () => started.stderr?.() ?? "",
    async stop() {
      await started.stop?.();
      await channel.stop();
      return STOPPED_CLEANLY;
    },
  };
}
