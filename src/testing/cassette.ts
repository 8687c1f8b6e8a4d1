import { basename, extname } from "node:path";
import type { VcrOptions } from "./vcr/options.ts";
import type { VcrScope } from "./vcr/scope.ts";

/** A test, as its runner names it. */
export interface TestName {
  file: string;
  /** With those of the blocks around it. */
  test: string;
}

export interface CassetteTestOptions extends VcrOptions {
  /** Made of the names of the file and of the test, unless given. */
  scenario?: string | ((test: TestName) => string);
}

/** What of a test runner cassettes need. */
export interface CassetteHooks<Context> {
  beforeEach(run: (context: Context) => Promise<void>): void;
  afterEach(run: (context: Context) => Promise<void>): void;
  nameOf(context: Context): TestName;
  /** What a test has failed with, where the runner says so. */
  failureOf?(context: Context): { error: unknown } | undefined;
}

export function scenarioOf({ scenario }: CassetteTestOptions, test: TestName): string {
  if (scenario !== undefined) return typeof scenario === "string" ? scenario : scenario(test);
  return `${basename(test.file, extname(test.file))} ${test.test}`;
}

/**
 * Cassettes for each test of a file, or of the block in which it is called: its calls to providers are caught, and a
 * test fails where `vcr.use` would.
 * @returns gives the scope of the test that runs
 */
export function cassettesWith<Context>(
  hooks: CassetteHooks<Context>,
  options: CassetteTestOptions = {},
): () => VcrScope {
  let current: VcrScope | undefined;
  hooks.beforeEach(async (context) => {
    const { scenario: _, ...settings } = options;
    const { openEverywhere } = await import("./vcr/scopes.ts");
    current = openEverywhere(scenarioOf(options, hooks.nameOf(context)), settings);
  });
  hooks.afterEach(async (context) => {
    const scope = current;
    current = undefined;
    await scope?.close(hooks.failureOf?.(context));
  });
  return () => {
    if (current === undefined) throw new Error("The cassette is not there yet: ask for it inside a test.");
    return current;
  };
}
