import { CassetteError } from "../cassettes/format.ts";
import { SuiteError } from "../conformance/errors.ts";
import { EXIT_NOT_RUN } from "../report/verdict.ts";
import { TransportError } from "../transport/errors.ts";

/** The command line asks for what cannot be done. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Runs a verb as `exitWith` does; a signal ends it. */
export async function runVerb(verb: () => Promise<number>): Promise<void> {
  // A signal ends the process without its exit handlers, which are what kills adapters that still run.
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)
    process.once(signal, () => process.exit(code));
  await exitWith(verb);
}

/**
 * Makes a verb's exit code the process's. What keeps it from running is written to stderr, with the code for "could
 * not be run"; an error that nobody expected keeps its stack.
 */
export async function exitWith(verb: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await verb();
  } catch (error) {
    const expected =
      error instanceof SuiteError ||
      error instanceof CassetteError ||
      error instanceof TransportError ||
      error instanceof UsageError;
    process.stderr.write(`${expected ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = EXIT_NOT_RUN;
  }
}
