/** Golden request/response pairs of a JSON-RPC service: a mock daemon answers from them, a live server is held to them. */

export type { Verdict } from "../../report/verdict.ts";
export type { Clock } from "../../state/clock.ts";
export { SystemClock } from "../../state/clock.ts";
export type { Stamps } from "../../state/stamps.ts";
export { FreshStamps, SeededStamps } from "../../state/stamps.ts";
export type { Channel } from "../../transport/channel.ts";
export { functionChannel } from "../../transport/channel.ts";
export { SuiteError } from "../errors.ts";
export type { Target } from "../target.ts";
export { command, service } from "../target.ts";
export type { Contract, TransportName } from "./contract.ts";
export type { Coverage } from "./coverage.ts";
export { coverageOf } from "./coverage.ts";
export type { GeneratedFiles } from "./generate.ts";
export { generate } from "./generate.ts";
export type { LintedContract } from "./lint.ts";
export { lintContracts } from "./lint.ts";
export type { Suite } from "./load.ts";
export { loadContracts } from "./load.ts";
export type { Interception, MockAnswer, MockCall, MockClient, MockOptions } from "./mock.ts";
export { MockDaemon } from "./mock.ts";
export type { RecordedContract } from "./record.ts";
export { recordContracts } from "./record.ts";
export { serveChannel } from "./serve.ts";
export type { VerifyContractsOptions } from "./verify.ts";
export { verifyContracts } from "./verify.ts";
