import type { Output } from "./output.ts";
import { PrettyReporter } from "./pretty.ts";
import { githubReporter, jsonReporter, junitReporter, tapReporter } from "./structured.ts";
import type { Reporter } from "./verdict.ts";

const makers: Readonly<Record<string, (output: Output) => Reporter>> = {
  pretty: (output) => new PrettyReporter(output),
  json: jsonReporter,
  junit: junitReporter,
  tap: tapReporter,
  github: githubReporter,
};

export const REPORTER_NAMES: readonly string[] = Object.keys(makers);

/** The reporter of that name; undefined where there is none. */
export function reporterNamed(name: string, output: Output): Reporter | undefined {
  return Object.hasOwn(makers, name) ? makers[name]?.(output) : undefined;
}
