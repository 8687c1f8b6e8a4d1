import type { Command } from "commander";
import { collect, count, splitAtDashes } from "./arguments.ts";
import type { VerifyFlags } from "./flags.ts";
import { targetOptions } from "./target-options.ts";

export function registerVerify(program: Command): void {
  targetOptions(
    program
      .command("verify")
      .description("hold the real thing to its tapes")
      .argument("<path>", "a tape or a suite of tapes; what it holds tells its kind")
      .argument("[command...]", "after --: the command to hold to them")
      .usage("[options] <path> -- <command...>"),
  )
    .option("--filter <text>", "only cases with this in their name; * stands for anything")
    .option("--jobs <number>", "how many cases run at once (1)", count)
    .option("--bail", "start no further case after a failure")
    .option("--allow <contract>", "run a contract whose condition has been arranged; can be repeated", collect)
    .option("--watch", "run again whenever the suite or a file of the command changes")
    .option("--update", "show what differs, then record it anew")
    .option("--rules <file>", "how to read providers that are not known, for cassettes; can be repeated", collect)
    .option("--reporter <name[=file]>", "pretty, json, junit, tap or github; can be repeated", collect)
    .action(async (path: string, operands: string[], flags: VerifyFlags) => {
      const { runVerb } = await import("./run-verb.ts");
      const { kindOf } = await import("./tape-kinds.ts");
      const split = splitAtDashes(process.argv, [path, ...operands]);
      await runVerb(async () => (await kindOf(path, "verify")).verify(path, split.command, flags));
    });
}
