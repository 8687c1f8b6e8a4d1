import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { StuntDouble } from "../server/double.ts";
import { type UseStuntDoubleOptions, useStuntDoubleWith } from "./use-stunt-double.ts";

export type { StuntDouble } from "../server/double.ts";
export type { OnMiss } from "./between-tests.ts";
export type { UseStuntDoubleOptions } from "./use-stunt-double.ts";

/**
 * A double for all tests of a file, or of the `describe` in which it is called.
 * @returns gives the double, inside tests and hooks
 */
export function useStuntDouble(options?: UseStuntDoubleOptions): () => StuntDouble {
  return useStuntDoubleWith({ beforeAll, beforeEach, afterEach, afterAll }, options);
}
