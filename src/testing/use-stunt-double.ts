import { StuntDouble } from "../server/double.ts";
import type { StuntDoubleOptions } from "../server/options.ts";
import { patchEnvironment } from "./base-urls.ts";
import { beginTest, checkMisses, type OnMiss } from "./between-tests.ts";
import { fixturesOf, type GivenFixtures } from "./given-fixtures.ts";

/** A test runner's hooks, by the names of most. */
export interface Hooks {
  beforeAll(run: () => Promise<void>): void;
  beforeEach(run: () => void | Promise<void>): void;
  afterEach(run: () => void | Promise<void>): void;
  afterAll(run: () => Promise<void>): void;
}

export interface UseStuntDoubleOptions extends Omit<StuntDoubleOptions, "fixtures" | "liveFixtures"> {
  /** Fixtures, or paths and URLs of their files. They are there for every test. */
  fixtures?: GivenFixtures;
  /** Leads every SDK to the double, by the environment variables that it reads; true unless given. */
  patchEnv?: boolean;
  /** What becomes of a test in which a call had no tape; `fail` unless given. */
  onMiss?: OnMiss;
}

/**
 * A double for all tests of a file, or of the block in which it is called. It starts before the first and stops after
 * the last. Between two tests it forgets calls, counts, errors and chaos, and the fixtures that the test has added.
 * @returns gives the double, inside tests and hooks
 */
export function useStuntDoubleWith(hooks: Hooks, options: UseStuntDoubleOptions = {}): () => StuntDouble {
  const { fixtures = [], patchEnv = true, onMiss = "fail", ...settings } = options;
  let double: StuntDouble | undefined;
  let unpatch = (): void => {};
  let endTest = (): void => {};

  hooks.beforeAll(async () => {
    double = await StuntDouble.start({ ...settings, fixtures: await fixturesOf(fixtures) });
    if (patchEnv) unpatch = patchEnvironment(double.url);
  });
  hooks.beforeEach(() => {
    if (double !== undefined) endTest = beginTest(double);
  });
  hooks.afterEach(() => {
    if (double === undefined) return;
    try {
      checkMisses(double, onMiss);
    } finally {
      endTest();
    }
  });
  hooks.afterAll(async () => {
    unpatch();
    await double?.stop();
    double = undefined;
  });

  return () => {
    if (double === undefined) throw new Error("The double is not there yet: ask for it inside a test or a hook.");
    return double;
  };
}
