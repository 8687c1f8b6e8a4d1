import type { Command } from "commander";
import { collect } from "./arguments.ts";
import type { ExplainFlags } from "./flags.ts";
import { redactOption } from "./redact-options.ts";

export function registerExplain(program: Command): void {
  redactOption(
    program
      .command("explain")
      .description("tell which fixture answers a request, and what stops the nearest others")
      .argument("<request>", "a JSON file: the body of a request, or {method, path, headers, body}; - for the input")
      .option("-f, --fixtures <path>", "files, folders, globs and URLs; can be repeated (./fixtures)", collect)
      .option("--path <path>", "where the body is sent, if it does not say so and a guess is wrong")
      .option("--json", "as JSON"),
  ).action(async (request: string, flags: ExplainFlags) => {
    const { runVerb } = await import("./run-verb.ts");
    await runVerb(async () => (await import("./run-explain.ts")).explainFile(request, flags));
  });
}
