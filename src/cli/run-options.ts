import type { Command } from "commander";
import { collect, durationMs, oneOf } from "./arguments.ts";
import { type CassetteFlags, tapeOptions } from "./cassette-options.ts";
import { type GuardFlags, guardOptions } from "./guard-options.ts";
import { type RecordOptionFlags, upstreamOptions } from "./record-options.ts";
import { type RedactFlags, redactOption } from "./redact-options.ts";

/** What the command line says of a command that is run with its calls recorded or replayed. */
export interface WrapFlags extends CassetteFlags, RecordOptionFlags, GuardFlags, RedactFlags {
  allowMiss?: true;
  allowEmpty?: true;
  watch?: string[];
  report?: string;
  prices?: string;
  offline?: true;
  online?: true;
  allowHost?: string[];
  allowCommand?: string[];
  sandbox?: true;
  stopGrace?: number;
}

export function wrapOptions(command: Command): Command {
  return guardOptions(redactOption(upstreamOptions(tapeOptions(command))))
    .option("--repeat <how>", "after a recorded sequence: last or miss (miss)", oneOf(["last", "miss"]))
    .option("--allow-miss", "calls that no cassette answers do not fail the run")
    .option("--allow-empty", "a run without a call does not fail")
    .option("--watch [path]", "run again when a file changes (.); can be repeated", paths)
    .option("--report <file>", "write the run to FILE.html and FILE.json")
    .option("--prices <file>", "a price list in place of the built-in one")
    .option(
      "--offline",
      "block the network in Node processes, and what they may start; replay blocks the network alone",
    )
    .option("--online", "block nothing")
    .option("--allow-host <host>", "what may be reached besides loopback; can be repeated", collect)
    .option("--allow-command <name>", "what may be started besides Node with --offline; can be repeated", collect)
    .option("--sandbox", "replay where no network can be reached (Linux, as root)");
}

/** The time that processes have to end once they are told to. */
export function graceOption(command: Command): Command {
  return command.option("--stop-grace <duration>", "time to end by itself before it is killed (2s)", durationMs);
}

/** Commander gives true where no path follows. */
function paths(value: string | boolean, before: string[] = []): string[] {
  return typeof value === "string" ? [...before, value] : before;
}
