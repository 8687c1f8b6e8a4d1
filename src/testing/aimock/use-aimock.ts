import { patchEnvironment } from "../base-urls.ts";
import { fixturesOf, type GivenFixtures } from "../given-fixtures.ts";
import type { Hooks } from "../use-stunt-double.ts";
import { LLMock } from "./llmock.ts";
import type { MockServerOptions } from "./types.ts";

export interface UseAimockOptions extends MockServerOptions {
  /** Fixtures, or paths and URLs of their files. */
  fixtures?: GivenFixtures;
  /** Leads every SDK to the server, by the environment variables that it reads; true unless given. */
  patchEnv?: boolean;
}

export interface AimockHandle {
  readonly llm: LLMock;
  readonly url: string;
}

/**
 * A server for all tests of a file. Before each test its sequences begin anew; what else a test has done stays.
 * @returns gives the server, inside tests and hooks
 */
export function useAimockWith(hooks: Hooks, options: UseAimockOptions = {}): () => AimockHandle {
  const { fixtures = [], patchEnv = true, ...settings } = options;
  let handle: AimockHandle | undefined;
  let unpatch = (): void => {};

  hooks.beforeAll(async () => {
    const llm = new LLMock(settings).addFixtures(await fixturesOf(fixtures));
    const url = await llm.start();
    if (patchEnv) unpatch = patchEnvironment(url);
    handle = { llm, url };
  });
  hooks.beforeEach(() => {
    handle?.llm.resetMatchCounts();
  });
  hooks.afterAll(async () => {
    unpatch();
    await handle?.llm.stop();
    handle = undefined;
  });

  return () => {
    if (handle === undefined) throw new Error("useAimock(): the server is not there yet. Call it inside a test.");
    return handle;
  };
}
