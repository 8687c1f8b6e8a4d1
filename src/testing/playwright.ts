import type { PlaywrightTestArgs, PlaywrightWorkerArgs, TestType } from "@playwright/test";
import { StuntDouble } from "../server/double.ts";
import { patchEnvironment } from "./base-urls.ts";
import { beginTest, checkMisses } from "./between-tests.ts";
import { type CassetteTestOptions, scenarioOf } from "./cassette.ts";
import { fixturesOf } from "./given-fixtures.ts";
import type { UseStuntDoubleOptions } from "./use-stunt-double.ts";
import type { VcrScope } from "./vcr/scope.ts";

export type { StuntDouble } from "../server/double.ts";
export type { OnMiss } from "./between-tests.ts";
export type { CassetteTestOptions, TestName } from "./cassette.ts";
export type { UseStuntDoubleOptions } from "./use-stunt-double.ts";
export type { VcrScope } from "./vcr/scope.ts";

/** What tests are given. */
export interface StuntDoubleFixtures {
  /** The worker's double, without anything of the test before. */
  stuntDouble: StuntDouble;
}

export interface StuntDoubleWorkerFixtures {
  /** The same, for fixtures of a worker. */
  workerStuntDouble: StuntDouble;
}

export interface CassetteFixtures {
  /** The scope of the test. */
  cassette: VcrScope;
}

/**
 * Playwright's `test` with the calls of each test's own process caught, and answered from the test's own cassettes, or
 * recorded.
 * @param test Playwright's, or one that was extended already
 */
export function withCassette<TestArgs extends PlaywrightTestArgs, WorkerArgs extends PlaywrightWorkerArgs>(
  test: TestType<TestArgs, WorkerArgs>,
  options: CassetteTestOptions = {},
): TestType<TestArgs & CassetteFixtures, WorkerArgs> {
  const { scenario: _, ...settings } = options;
  const extended = (test as unknown as TestType<PlaywrightTestArgs, PlaywrightWorkerArgs>).extend<CassetteFixtures>({
    cassette: [
      // biome-ignore lint/correctness/noEmptyPattern: Playwright refuses any other way to ask for nothing.
      async ({}, use, { file, titlePath, error }) => {
        const { openEverywhere } = await import("./vcr/scopes.ts");
        const name = { file, test: titlePath.slice(1).join(" ") };
        const scope = openEverywhere(scenarioOf(options, name), settings);
        await use(scope);
        await scope.close(error && { error: error.message });
      },
      { auto: true },
    ],
  });
  return extended as unknown as TestType<TestArgs & CassetteFixtures, WorkerArgs>;
}

/**
 * Playwright's `test` with a double for each worker, which every test has whether it asks for it or not.
 * @param test Playwright's, or one that was extended already
 */
export function withStuntDouble<TestArgs extends PlaywrightTestArgs, WorkerArgs extends PlaywrightWorkerArgs>(
  test: TestType<TestArgs, WorkerArgs>,
  options: UseStuntDoubleOptions = {},
): TestType<TestArgs & StuntDoubleFixtures, WorkerArgs & StuntDoubleWorkerFixtures> {
  const { fixtures = [], patchEnv = true, onMiss = "fail", ...settings } = options;
  // Playwright reads from a fixture's parameters what it needs, so that they have to be written out.
  const extended = (test as unknown as TestType<PlaywrightTestArgs, PlaywrightWorkerArgs>).extend<
    StuntDoubleFixtures,
    StuntDoubleWorkerFixtures
  >({
    workerStuntDouble: [
      // biome-ignore lint/correctness/noEmptyPattern: Playwright refuses any other way to ask for nothing.
      async ({}, use) => {
        const double = await StuntDouble.start({ ...settings, fixtures: await fixturesOf(fixtures) });
        const unpatch = patchEnv ? patchEnvironment(double.url) : undefined;
        await use(double);
        unpatch?.();
        await double.stop();
      },
      { scope: "worker", auto: true },
    ],
    stuntDouble: [
      async ({ workerStuntDouble }, use) => {
        const endTest = beginTest(workerStuntDouble);
        await use(workerStuntDouble);
        try {
          checkMisses(workerStuntDouble, onMiss);
        } finally {
          endTest();
        }
      },
      { auto: true },
    ],
  });
  return extended as unknown as TestType<TestArgs & StuntDoubleFixtures, WorkerArgs & StuntDoubleWorkerFixtures>;
}
