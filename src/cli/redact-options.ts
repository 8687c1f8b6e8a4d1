import type { Command } from "commander";
import { readRedactionOptions } from "../guard/options.ts";
import { createRedactor, type RedactionOptions } from "../guard/redact.ts";

/** What is said of what must not be written. */
export interface RedactFlags {
  /** A file, or what would stand in one: that is how a configuration says it. */
  redact?: string | object;
}

export function redactOption(command: Command): Command {
  return command.option(
    "--redact <file>",
    "what must not be written, and what may be: a file as schemas/redact.schema.json says",
  );
}

/**
 * The option `redact` of a double, as the flags say it.
 * @returns undefined where nothing is said
 * @throws {UsageError} when it cannot be used
 */
export async function redactionSettings({ redact }: RedactFlags): Promise<RedactionOptions | undefined> {
  if (redact === undefined) return undefined;
  const { optionsInFile, usable } = await import("./options-file.ts");
  return typeof redact === "string"
    ? optionsInFile("--redact", redact, redactionOptions)
    : usable("--config: /redact", () => redactionOptions(redact));
}

/** Names and patterns would else be looked at with the first call that is recorded. */
async function redactionOptions(value: unknown): Promise<RedactionOptions> {
  const options = await readRedactionOptions(value);
  await createRedactor(options);
  return options;
}
