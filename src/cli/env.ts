import type { Command } from "commander";
import { oneOf } from "./arguments.ts";
import type { EnvFormat, EnvSettings } from "./env-text.ts";

const FORMATS: readonly EnvFormat[] = ["shell", "dotenv", "json", "github"];

export function registerEnv(program: Command): void {
  program
    .command("env")
    .description("print the variables that lead SDKs to a double")
    .option("--url <url>", "where the double is (http://127.0.0.1:4010)")
    .option("--scenario <name>", "of the calls that are made with them")
    .option("--format <format>", `${FORMATS.join(", ")} (shell)`, oneOf(FORMATS))
    .action(async (flags: EnvSettings) => {
      const { exitWith } = await import("./run-verb.ts");
      await exitWith(async () => {
        const { envText } = await import("./env-text.ts");
        process.stdout.write(envText(flags));
        return 0;
      });
    });
}
