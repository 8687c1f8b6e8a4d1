import type { Command } from "commander";
import { splitAtDashes } from "./arguments.ts";
import { graceOption, type WrapFlags, wrapOptions } from "./run-options.ts";

/** `record` is told apart from its other forms in its own file. */
export function registerReplay(program: Command): void {
  register(program, "replay", "run a command with its calls answered from cassettes");
}

export function registerAuto(program: Command): void {
  register(program, "auto", "run a command with its calls answered from cassettes, and recorded where there are none");
}

function register(program: Command, mode: "replay" | "auto", description: string): void {
  graceOption(
    wrapOptions(
      program
        .command(mode)
        .description(description)
        .argument("[command...]", "after --: the command")
        .usage("[options] -- <command...>"),
    ),
  ).action(async (operands: string[], flags: WrapFlags) => {
    const { exitWith, UsageError } = await import("./run-verb.ts");
    await exitWith(async () => {
      const { before, command } = splitAtDashes(process.argv, operands);
      if (before.length > 0) throw new UsageError(`Put -- before the command: stuntdouble ${mode} -- ${before[0]} …`);
      return (await import("./run/run.ts")).runWithTapes(mode, command, flags);
    });
  });
}
