import type { Fixture } from "../fixtures/types.ts";
import type { StuntDouble } from "../server/double.ts";

/** What becomes of a test in which a call had no tape: it fails, says so on stderr, or neither. */
export type OnMiss = "fail" | "warn" | "ignore";

/**
 * Makes a double forget what the test before has done to it. Called before a test.
 * @returns to be called after the test: takes away the fixtures that it has added
 */
export function beginTest(double: StuntDouble): () => void {
  const before = [...double.fixtures];
  restore(double, before);
  return () => restore(double, before);
}

function restore(double: StuntDouble, fixtures: readonly Fixture[]): void {
  double.reset();
  double.addFixtures(fixtures);
}

/**
 * Called after a test, before the double forgets it.
 * @throws {ExpectationError} that explains each miss, where they are to fail the test
 */
export function checkMisses(double: StuntDouble, onMiss: OnMiss): void {
  if (onMiss === "ignore") return;
  try {
    double.assertNoMisses();
  } catch (error) {
    if (onMiss === "fail") throw error;
    process.stderr.write(`${(error as Error).message}\n`);
  }
}
