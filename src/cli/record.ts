import type { Command } from "commander";
import { collect, count, splitAtDashes } from "./arguments.ts";
import type { RecordFlags } from "./flags.ts";
import { targetOptions } from "./target-options.ts";

export function registerRecord(program: Command): void {
  targetOptions(
    program
      .command("record")
      .description("make tapes from the real thing")
      .argument("[path-and-cases...]", "a suite, and the cases of it to record (all); after --: the command")
      .usage(
        "[options] <suite> [case...] -- <command...>\n       stuntdouble record --tap <suite> --case <name> -- <command...>",
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
    .option("--force", "write over a case that is there")
    .action(async (operands: string[], flags: RecordFlags) => {
      const { runVerb, UsageError } = await import("./run-verb.ts");
      const { before, command } = splitAtDashes(process.argv, operands);
      await runVerb(async () => {
        if (flags.tap !== undefined)
          return (await import("./transcripts/tap.ts")).tapConversation(flags.tap, command, flags);
        const [path, ...cases] = before;
        if (path === undefined) throw new UsageError("record needs a suite, or --tap with a folder to write to.");
        const { kindOf } = await import("./tape-kinds.ts");
        return (await kindOf(path, "record")).record(path, cases, command, flags);
      });
    });
}
