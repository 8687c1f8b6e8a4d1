import type { Command } from "commander";

export function registerGenerate(program: Command): void {
  program
    .command("generate")
    .description("make validators and TypeScript types from a service's schema")
    .requiredOption("--schema <file>", "an OpenRPC document, or JSON Schemas by method")
    .requiredOption("--out <folder>", "where types.ts, validators.js and validators.d.ts are written")
    .action(async (flags: { schema: string; out: string }) => {
      const { runVerb } = await import("./run-verb.ts");
      await runVerb(async () => (await import("./contracts/generate.ts")).generateFiles(flags.schema, flags.out));
    });
}
