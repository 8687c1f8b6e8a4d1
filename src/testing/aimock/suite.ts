import { fixturesOf, type GivenFixtures } from "../given-fixtures.ts";
import { LLMock } from "./llmock.ts";
import type { MockServerOptions } from "./types.ts";

export interface MockSuiteOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** Fixtures, or paths and URLs of their files. */
  fixtures?: GivenFixtures;
  /** Options of the server for models. */
  llm?: MockServerOptions;
  /** Not there yet. */
  services?: Readonly<Record<string, unknown>>;
}

export interface MockSuite {
  llm: LLMock;
  /** @throws {Error} while it is not running */
  readonly url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  reset(): void;
}

const NOT_THERE = ["services", "mcp", "a2a", "agui", "vector"];

/**
 * One server for all that an application talks to; so far, models.
 * @throws {Error} for a part that is not there yet
 * @throws {FixtureError} with every fault of every file of fixtures
 */
export async function createMockSuite(options: MockSuiteOptions = {}): Promise<MockSuite> {
  const missing = NOT_THERE.filter((name) => isAsked((options as Record<string, unknown>)[name]));
  if (missing.length > 0) {
    throw new Error(`createMockSuite cannot do ${missing.join(", ")} yet; leave it out, or keep aimock for it.`);
  }
  const { port, fixtures = [], llm: settings } = options;
  const llm = new LLMock({ ...settings, ...(port !== undefined && { port }) });
  llm.addFixtures(await fixturesOf(fixtures));
  return {
    llm,
    get url() {
      return llm.url;
    },
    start: async () => {
      await llm.start();
    },
    stop: () => llm.stop(),
    reset: () => {
      llm.reset();
    },
  };
}

function isAsked(value: unknown): boolean {
  return typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}
