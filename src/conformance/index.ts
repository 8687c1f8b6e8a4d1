/** Holds adapters to recorded JSON-RPC conversations, and answers from these in an adapter's place. */

export type { Difference } from "../report/difference.ts";
export { formatDifference } from "../report/difference.ts";
export type { Channel, ChannelEvents, StopReport } from "../transport/channel.ts";
export { functionChannel, streamChannel } from "../transport/channel.ts";
export { TransportError } from "../transport/errors.ts";
export type { Framing, FramingName } from "../wire/framing.ts";
export { framings } from "../wire/framings.ts";
export type { Order } from "./align.ts";
export { bind } from "./bind.ts";
export { compare } from "./compare.ts";
export { DEFAULT_DRAIN_TIMEOUT_MS, DEFAULT_RESPONSE_TIMEOUT_MS, DEFAULT_STOP_GRACE_MS } from "./drive.ts";
export type { Problem } from "./errors.ts";
export { SuiteError } from "./errors.ts";
export { load, loadSuite } from "./load.ts";
export type { PlayReport } from "./player.ts";
export { Player } from "./player.ts";
export type { Recording } from "./recording.ts";
export { record, writeRecording } from "./recording.ts";
export { redact, VOLATILE_MASK } from "./redact.ts";
export type { ReplayOptions as Options, Result } from "./replay.ts";
export { replay } from "./replay.ts";
export type { CommandOptions, Process, Target, TargetContext } from "./target.ts";
export { command, service } from "./target.ts";
export type { Bindings, Manifest, Transcript } from "./transcript.ts";
export {
  FIXTURE_DIR,
  FLOW_LOCKSTEP,
  FLOW_PIPELINED,
  fixtureOf,
  MANIFEST_FILE,
  REQUEST_FILE,
  RESPONSE_FILE,
} from "./transcript.ts";
export type { VerifyOptions } from "./verify.ts";
export { verify } from "./verify.ts";
