import { PrettyReporter } from "./pretty.ts";
import { githubReporter, jsonReporter, junitReporter, tapReporter } from "./structured.ts";
import type { Reporter } from "./verdict.ts";

/** Where a report goes. */
export interface Output {
  write(text: string): void;
  /** Whether lines can be written over. */
  terminal: boolean;
  colors: boolean;
}

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

/** The process's own output. Colours follow the terminal, `NO_COLOR` and `FORCE_COLOR` (https://no-color.org). */
export function standardOutput(stream: NodeJS.WriteStream = process.stdout): Output {
  const terminal = stream.isTTY === true;
  const forced = process.env["FORCE_COLOR"];
  const colors = process.env["NO_COLOR"] ? false : forced !== undefined ? forced !== "0" : terminal;
  return { write: (text) => void stream.write(text), terminal, colors };
}
