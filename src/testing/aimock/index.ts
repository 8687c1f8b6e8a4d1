export {
  FixtureError,
  loadFixtures as loadFixtureFile,
  loadFixtures as loadFixturesFromDir,
} from "../../fixtures/load.ts";
export { createServer, type ServerInstance } from "./create-server.ts";
export { AimockJournal as Journal } from "./journal.ts";
export { LLMock } from "./llmock.ts";
export { createMockSuite, type MockSuite, type MockSuiteOptions } from "./suite.ts";
export type * from "./types.ts";
