import type { Command } from "commander";
import { Argument } from "commander";
import { type RedactFlags, redactOption } from "./redact-options.ts";
import type { ConvertedTool } from "./run-convert.ts";

const TOOLS: readonly ConvertedTool[] = ["aimock", "mockllm", "vidaimock", "wiremock", "vcrpy", "har"];

export function registerConvert(program: Command): void {
  redactOption(
    program
      .command("convert")
      .description("make fixtures of another tool's files, and say what cannot be carried over")
      .addArgument(new Argument("<tool>", "whose files they are").choices(TOOLS))
      .argument("<in>", "a file or a folder")
      .argument("<out>", "a file that ends with .json, or a folder for one file each"),
  ).action(async (tool: ConvertedTool, from: string, to: string, flags: RedactFlags) => {
    const { runVerb } = await import("./run-verb.ts");
    await runVerb(async () => (await import("./run-convert.ts")).convert(tool, from, to, flags));
  });
}
