import type { Command } from "commander";
import { collect } from "./arguments.ts";
import type { ScanFlags } from "./flags.ts";
import { redactOption } from "./redact-options.ts";

export function registerScan(program: Command): void {
  redactOption(
    program
      .command("scan")
      .description("look for secrets in tapes of every kind; exit code 1 if there are any")
      .argument("<path...>", "tapes and folders of tapes"),
  )
    .option("--fix", "replace them in place")
    .option("--json", "report as JSON")
    .option("--detect <name>", "turn a detector on that is off by default; can be repeated", collect)
    .option("--skip <name>", "turn a detector off; can be repeated", collect)
    .action(async (paths: string[], flags: ScanFlags) => {
      const { runVerb } = await import("./run-verb.ts");
      const { scan } = await import("./scan-tapes.ts");
      await runVerb(() => scan(paths, flags));
    });
}
