import { after, afterEach, before, beforeEach } from "node:test";
import type { StuntDouble } from "../server/double.ts";
import { type CassetteTestOptions, cassettesWith } from "./cassette.ts";
import { type UseStuntDoubleOptions, useStuntDoubleWith } from "./use-stunt-double.ts";
import type { VcrScope } from "./vcr/scope.ts";

export type { StuntDouble } from "../server/double.ts";
export type { OnMiss } from "./between-tests.ts";
export type { CassetteTestOptions, TestName } from "./cassette.ts";
export type { UseStuntDoubleOptions } from "./use-stunt-double.ts";
export type { VcrScope } from "./vcr/scope.ts";

/** What Node tells a hook of its test; newer versions more than older ones. */
interface TestContext {
  name: string;
  fullName?: string;
  filePath?: string;
  passed?: boolean;
  error?: unknown;
}

/**
 * Catches the calls of each test of a file, or of the `describe` in which it is called, and answers them from the
 * test's own cassettes, or records them.
 * @returns gives the scope of the test that runs
 */
export function cassette(options?: CassetteTestOptions): () => VcrScope {
  const hooks = {
    beforeEach: (run: (context: TestContext) => Promise<void>) => beforeEach((context) => run(context as TestContext)),
    afterEach: (run: (context: TestContext) => Promise<void>) => afterEach((context) => run(context as TestContext)),
    nameOf: ({ name, fullName = name, filePath = process.argv[1] ?? "test" }: TestContext) => ({
      file: filePath,
      test: fullName,
    }),
    failureOf: ({ passed, error }: TestContext) => (passed === false ? { error } : undefined),
  };
  return cassettesWith(hooks, options);
}

/**
 * A double for all tests of a file, or of the `describe` in which it is called.
 * @returns gives the double, inside tests and hooks
 */
export function useStuntDouble(options?: UseStuntDoubleOptions): () => StuntDouble {
  return useStuntDoubleWith({ beforeAll: before, beforeEach, afterEach, afterAll: after }, options);
}
