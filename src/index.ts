export type { StreamingProfile, RecordedTimings } from "./chat/timing.ts";
export type { ChatRequest, ChatMessage, ChatTool, ContentPart } from "./chat/request.ts";
export type {
  Chaos,
  Fixture,
  FixtureMatch,
  FixtureOptions,
  FixtureResponder,
  FixtureResponse,
} from "./fixtures/types.ts";
export { type Fault, FixtureError, loadFixtures } from "./fixtures/load.ts";
export { StuntDouble, type StuntDoubleOptions } from "./server/double.ts";
export { type Clock, SystemClock } from "./state/clock.ts";
export type { JournalEntry, JournalFilter, JournalResponse } from "./state/journal.ts";
