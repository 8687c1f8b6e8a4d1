export type { ChatMessage, ChatRequest, ChatTool, ContentPart } from "./chat/request.ts";
export type { RecordedTimings, StreamingProfile } from "./chat/timing.ts";
export type { Explanation, NearFixture } from "./fixtures/explain.ts";
export { type Fault, FixtureError, loadFixtures, loadFixturesAsync } from "./fixtures/load.ts";
export type { RemoteOptions } from "./fixtures/remote.ts";
export type { RequestTransform } from "./fixtures/transform.ts";
export type {
  Chaos,
  Fixture,
  FixtureMatch,
  FixtureOptions,
  FixtureResponder,
  FixtureResponse,
  TextPattern,
} from "./fixtures/types.ts";
export type { WatchChange, WatchOptions } from "./fixtures/watch.ts";
export type { BreakerOptions, CallLimits, UsageLimits } from "./guard/breaker.ts";
export {
  type GuardAction,
  type GuardDirection,
  GuardError,
  type GuardHit,
  type GuardRule,
} from "./guard/guardrails.ts";
export type { GuardOptions } from "./guard/options.ts";
export type { Role } from "./guard/roles.ts";
export type { CassetteMode, CassetteOptions, CassetteState } from "./server/cassette-options.ts";
export type { Scope } from "./server/control.ts";
export { StuntDouble } from "./server/double.ts";
export { type CallPattern, ExpectationError, type ExpectOptions } from "./server/expectations.ts";
export type { RequestExplanation } from "./server/explain.ts";
export type { ExplainRequest } from "./server/explain-request.ts";
export type { GuardCounts } from "./server/guard-counts.ts";
export type { StuntDoubleOptions } from "./server/options.ts";
export type { RecordMode, RecordOptions } from "./server/recording.ts";
export { type Clock, SystemClock } from "./state/clock.ts";
export type { JournalEntry, JournalFilter, JournalResponse } from "./state/journal.ts";
export type { Miss } from "./state/tally.ts";
