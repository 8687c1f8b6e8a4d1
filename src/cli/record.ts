import type { Command } from "commander";
import { collect, count, splitAtDashes } from "./arguments.ts";
import type { RecordFlags } from "./flags.ts";
import { type WrapFlags, wrapOptions } from "./run-options.ts";
import { targetOptions } from "./target-options.ts";

export function registerRecord(program: Command): void {
  const command = targetOptions(
    program
      .command("record")
      .description("make tapes from the real thing: cassettes of what a command calls, cases of a suite")
      .argument("[path-and-cases...]", "a suite, and the cases of it to record (all); after --: the command")
      .usage(
        "[options] -- <command...>\n       stuntdouble record [options] <suite> [case...] -- <command...>\n       stuntdouble record --tap <suite> --case <name> -- <command...>",
      ),
  )
    .option("--tap <suite>", "sit between a client and the command, and write the conversation as a new case")
    .option("--case <name>", "the new case's name")
    .option("--description <text>", "what the new case proves")
    .option(
      "--fixture <folder>",
      "source data: a placeholder takes its path's place, and it is copied into the new case",
    )
    .option("--volatile <pointer>", "a value that is not compared; can be repeated", collect)
    .option("--runs <number>", "how often the conversation is run; what differs becomes volatile (1)", count)
    .option("--force", "write over a case that is there");
  const ofSuites = new Set(command.options);
  const ofBoth = ["--stop-grace", "--redact"];
  wrapOptions(command).action(async (operands: string[], flags: RecordFlags & WrapFlags) => {
    const { exitWith, runVerb, UsageError } = await import("./run-verb.ts");
    const { before, command: target } = splitAtDashes(process.argv, operands);
    // Without a suite, what is recorded is what the command calls.
    const wraps = before.length === 0 && flags.tap === undefined && flags.target === undefined;
    const said = command.options.filter((option) => command.getOptionValueSource(option.attributeName()) === "cli");
    const strange = said.find((option) => ofSuites.has(option) === wraps && !ofBoth.includes(option.long ?? ""));
    const refuseStrange = (): void => {
      if (strange === undefined) return;
      const form = wraps ? "record <suite>" : "record -- COMMAND";
      throw new UsageError(`${strange.long} goes with stuntdouble ${form} only.`);
    };
    if (wraps && (target.length > 0 || (said.length > 0 && strange === undefined))) {
      await exitWith(async () => {
        refuseStrange();
        return (await import("./run/run.ts")).runWithTapes("record", target, flags);
      });
      return;
    }
    await runVerb(async () => {
      const [path, ...cases] = before;
      if (flags.tap === undefined && path === undefined)
        throw new UsageError("record needs a command after --, a suite, or --tap with a folder to write to.");
      refuseStrange();
      if (flags.tap !== undefined)
        return (await import("./transcripts/tap.ts")).tapConversation(flags.tap, target, flags);
      const { kindOf } = await import("./tape-kinds.ts");
      return (await kindOf(path!, "record")).record(path!, cases, target, flags);
    });
  });
}
