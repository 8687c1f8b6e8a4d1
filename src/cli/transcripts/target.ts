import type { ReplayOptions } from "../../conformance/replay.ts";
import { command as commandTarget, service, type Target } from "../../conformance/target.ts";
import { framings } from "../../wire/framings.ts";
import type { TargetFlags } from "../flags.ts";
import type { RedactFlags } from "../redact-options.ts";
import { UsageError } from "../run-verb.ts";

/** The target that the command line names: a command after `--`, or `--target`. */
export function targetFor(command: readonly string[], flags: TargetFlags): Target {
  const [name, ...args] = command;
  const address = flags.target === "stdio" ? undefined : flags.target;
  if (address !== undefined && name !== undefined) throw new UsageError("Give a command or --target, not both.");
  if (address === undefined && name === undefined)
    throw new UsageError("There is no target: add -- COMMAND, or --target ADDRESS.");
  const target = address === undefined ? commandTarget(name as string, args) : service(address, flags.header);
  const { framing } = flags;
  return framing === undefined ? target : (context) => target({ ...context, framing: framings[framing] });
}

/** @throws {UsageError} where redaction is asked for: the adapter's answers would differ from a recording without them */
export function refuseRedaction({ redact }: RedactFlags): void {
  if (redact !== undefined)
    throw new UsageError(
      "--redact goes with contracts and with record -- COMMAND. In transcripts, mask with --volatile; stuntdouble scan --redact looks through them.",
    );
}

export function replayOptions(flags: TargetFlags): ReplayOptions {
  return {
    workdir: flags.workdir,
    keepWorkdir: flags.keepWorkdir,
    responseTimeoutMs: flags.responseTimeout,
    drainTimeoutMs: flags.drainTimeout,
    stopGraceMs: flags.stopGrace,
  };
}
