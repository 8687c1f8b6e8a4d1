import type { Command } from "commander";
import { collect } from "./arguments.ts";
import type { LintFlags } from "./flags.ts";

export function registerLint(program: Command): void {
  program
    .command("lint")
    .description("look for what tapes should not hold")
    .argument("<path>", "a tape or a suite of tapes; what it holds tells its kind")
    .option("--reporter <name[=file]>", "pretty, json, junit, tap or github; can be repeated", collect)
    .action(async (path: string, flags: LintFlags) => {
      const { runVerb } = await import("./run-verb.ts");
      const { kindOf } = await import("./tape-kinds.ts");
      await runVerb(async () => (await kindOf(path, "lint")).lint(path, flags));
    });
}
