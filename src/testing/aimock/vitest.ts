import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { type AimockHandle, type UseAimockOptions, useAimockWith } from "./use-aimock.ts";

export { LLMock } from "./llmock.ts";
export type { Fixture, MockServerOptions } from "./types.ts";
export type { AimockHandle, UseAimockOptions } from "./use-aimock.ts";

/**
 * A server for all tests of a file. Before each test its sequences begin anew; what else a test has done stays.
 * @returns gives the server, inside tests and hooks
 */
export function useAimock(options?: UseAimockOptions): () => AimockHandle {
  return useAimockWith({ beforeAll, beforeEach, afterEach, afterAll }, options);
}
