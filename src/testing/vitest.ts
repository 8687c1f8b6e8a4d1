import { afterAll, afterEach, beforeAll, beforeEach, type TestContext } from "vitest";
import type { StuntDouble } from "../server/double.ts";
import { type CassetteTestOptions, cassettesWith, type TestName } from "./cassette.ts";
import { type UseStuntDoubleOptions, useStuntDoubleWith } from "./use-stunt-double.ts";
import type { VcrScope } from "./vcr/scope.ts";

export type { StuntDouble } from "../server/double.ts";
export type { OnMiss } from "./between-tests.ts";
export type { CassetteTestOptions, TestName } from "./cassette.ts";
export type { UseStuntDoubleOptions } from "./use-stunt-double.ts";
export type { VcrScope } from "./vcr/scope.ts";

/**
 * Catches the calls of each test of a file, or of the `describe` in which it is called, and answers them from the
 * test's own cassettes, or records them.
 * @returns gives the scope of the test that runs
 */
export function cassette(options?: CassetteTestOptions): () => VcrScope {
  const hooks = { beforeEach, afterEach, nameOf, failureOf };
  return cassettesWith<TestContext>(hooks, options);
}

function nameOf({ task }: TestContext): TestName {
  const names = [task.name];
  for (let { suite } = task; suite !== undefined && suite !== task.file; suite = suite.suite) names.unshift(suite.name);
  return { file: task.file.name, test: names.join(" ") };
}

function failureOf({ task }: TestContext): { error: unknown } | undefined {
  return task.result?.state === "fail" ? { error: task.result.errors?.[0]?.message } : undefined;
}

/**
 * A double for all tests of a file, or of the `describe` in which it is called.
 * @returns gives the double, inside tests and hooks
 */
export function useStuntDouble(options?: UseStuntDoubleOptions): () => StuntDouble {
  return useStuntDoubleWith({ beforeAll, beforeEach, afterEach, afterAll }, options);
}
