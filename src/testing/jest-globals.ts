import type { Hooks } from "./use-stunt-double.ts";

/** @throws {Error} where Jest's globals are not there */
export function jestHooks(): Hooks {
  const { beforeAll, beforeEach, afterEach, afterAll } = globalThis as Partial<Record<keyof Hooks, Hooks[keyof Hooks]>>;
  if (!beforeAll || !beforeEach || !afterEach || !afterAll) {
    throw new Error("Jest's globals are not there. Call it in a test file, and leave injectGlobals on.");
  }
  return { beforeAll, beforeEach, afterEach, afterAll } as Hooks;
}
