import type { Command } from "commander";
import { collect } from "./arguments.ts";
import type { LintFlags } from "./flags.ts";

export function registerLint(program: Command): void {
  program
    .command("lint")
    .description("look for what tapes should not hold")
    .argument("<path...>", "tapes and suites of tapes; what they hold tells their kind")
    .option("--reporter <name[=file]>", "pretty, json, junit, tap or github; can be repeated", collect)
    .action(async (paths: string[], flags: LintFlags) => {
      const { runVerb } = await import("./run-verb.ts");
      const { kindOf } = await import("./tape-kinds.ts");
      await runVerb(async () => {
        const byKind = new Map<Awaited<ReturnType<typeof kindOf<"lint">>>, string[]>();
        for (const path of paths) {
          const kind = await kindOf(path, "lint");
          byKind.set(kind, [...(byKind.get(kind) ?? []), path]);
        }
        const codes: number[] = [];
        for (const [kind, ofKind] of byKind) codes.push(await kind.lint(ofKind, flags));
        return Math.max(...codes);
      });
    });
}
