import type { StuntDouble } from "../server/double.ts";
import { type CassetteTestOptions, cassettesWith } from "./cassette.ts";
import { jestHooks } from "./jest-globals.ts";
import { type UseStuntDoubleOptions, useStuntDoubleWith } from "./use-stunt-double.ts";
import type { VcrScope } from "./vcr/scope.ts";

export type { StuntDouble } from "../server/double.ts";
export type { OnMiss } from "./between-tests.ts";
export type { CassetteTestOptions, TestName } from "./cassette.ts";
export type { UseStuntDoubleOptions } from "./use-stunt-double.ts";
export type { VcrScope } from "./vcr/scope.ts";

/** What Jest knows of the test that runs. */
interface JestState {
  testPath?: string;
  currentTestName?: string;
}

/**
 * Catches the calls of each test of a file, or of the `describe` in which it is called, and answers them from the
 * test's own cassettes, or records them.
 * @returns gives the scope of the test that runs
 * @throws {Error} where Jest's globals are not there
 */
export function cassette(options?: CassetteTestOptions): () => VcrScope {
  const { beforeEach, afterEach } = jestHooks();
  const { expect } = globalThis as unknown as { expect: { getState(): JestState } };
  const nameOf = () => {
    const { testPath = "test", currentTestName = "" } = expect.getState();
    return { file: testPath, test: currentTestName };
  };
  // Jest takes a hook with a parameter for one that calls back.
  const hooks = {
    beforeEach: (run: (context: undefined) => Promise<void>) => beforeEach(() => run(undefined)),
    afterEach: (run: (context: undefined) => Promise<void>) => afterEach(() => run(undefined)),
    nameOf,
  };
  return cassettesWith(hooks, options);
}

/**
 * A double for all tests of a file, or of the `describe` in which it is called.
 * @returns gives the double, inside tests and hooks
 * @throws {Error} where Jest's globals are not there
 */
export function useStuntDouble(options?: UseStuntDoubleOptions): () => StuntDouble {
  return useStuntDoubleWith(jestHooks(), options);
}
