import type { Command } from "commander";

export function registerCoverage(program: Command): void {
  program
    .command("coverage")
    .description("say which parts of a schema no contract holds")
    .argument("<path>", "a folder of contracts")
    .option("--require", "exit 1 where a contract is missing")
    .action(async (path: string, flags: { require?: true }) => {
      const { runVerb } = await import("./run-verb.ts");
      await runVerb(async () => (await import("./contracts/coverage.ts")).showCoverage(path, flags));
    });
}
