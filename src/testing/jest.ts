import type { StuntDouble } from "../server/double.ts";
import { jestHooks } from "./jest-globals.ts";
import { type UseStuntDoubleOptions, useStuntDoubleWith } from "./use-stunt-double.ts";

export type { StuntDouble } from "../server/double.ts";
export type { OnMiss } from "./between-tests.ts";
export type { UseStuntDoubleOptions } from "./use-stunt-double.ts";

/**
 * A double for all tests of a file, or of the `describe` in which it is called.
 * @returns gives the double, inside tests and hooks
 * @throws {Error} where Jest's globals are not there
 */
export function useStuntDouble(options?: UseStuntDoubleOptions): () => StuntDouble {
  return useStuntDoubleWith(jestHooks(), options);
}
