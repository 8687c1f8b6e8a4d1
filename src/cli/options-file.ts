import { readFileSync } from "node:fs";
import { readSource, withoutMark, YAML_NAME } from "../fixtures/load.ts";
import { RedactionOptionsError } from "../guard/finding.ts";
import { GuardError } from "../guard/guardrails.ts";
import { UsageError } from "./run-verb.ts";

/**
 * What a file of options says, in JSON, with comments or not, or in YAML.
 * @param use makes of its value what it has to be
 * @throws {UsageError} when it cannot be read or used
 */
export function optionsInFile<Options>(
  flag: string,
  path: string,
  use: (value: unknown) => Promise<Options>,
): Promise<Options> {
  return usable(`${flag}: ${path}`, () => use(valueIn(flag, path)));
}

/** @throws {UsageError} with what is wrong, after the name of where it was said */
export async function usable<Options>(name: string, make: () => Promise<Options>): Promise<Options> {
  try {
    return await make();
  } catch (error) {
    const isWrong = error instanceof GuardError || error instanceof RedactionOptionsError;
    throw isWrong ? new UsageError(`${name}: ${error.message}`) : error;
  }
}

function valueIn(flag: string, path: string): unknown {
  let text: string;
  try {
    text = withoutMark(readFileSync(path, "utf8"));
  } catch (error) {
    throw new UsageError(`${flag}: ${path} cannot be read: ${(error as Error).message}`);
  }
  const read = readSource(text, YAML_NAME.test(path));
  if ("value" in read) return read.value;
  throw new UsageError(`${flag}: ${path}:${read.line} ${read.message}.`);
}
