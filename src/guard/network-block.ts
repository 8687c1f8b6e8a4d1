import { syncBuiltinESMExports } from "node:module";
import { guardSockets } from "./network-block/connections.ts";
import { guardDatagrams } from "./network-block/datagrams.ts";
import { state } from "./network-block/in-force.ts";
import { guardLookups } from "./network-block/lookups.ts";
import { type NetworkBlockOptions, Policy } from "./network-block/policy.ts";
import { guardProcesses } from "./network-block/processes.ts";

export { blockEnvironment } from "./network-block/environment.ts";
export {
  NetworkBlockedError,
  type NetworkBlockOptions,
  type Refusal,
  type RefusalKind,
} from "./network-block/policy.ts";

/** Once, and for as long as the process lives: what others put around the same functions meanwhile stays whole. */
function install(): void {
  if (state.installed) return;
  state.installed = true;
  guardSockets();
  guardDatagrams();
  guardLookups();
  guardProcesses();
  syncBuiltinESMExports();
}

/**
 * From now on nothing leaves this machine from this process and those of Node that it starts, but for what is on the
 * lists. What is refused fails as if it could not be reached.
 * @returns lifts it again
 * @throws {RangeError} when a host is none
 */
export function blockNetwork(options: NetworkBlockOptions = {}): () => void {
  const policy = new Policy(options);
  install();
  state.everywhere.add(policy);
  return () => {
    state.everywhere.delete(policy);
  };
}

/** As `blockNetwork`, for what a function does, and for what comes of it. */
export function withNetworkBlocked<Result>(options: NetworkBlockOptions, run: () => Result): Result {
  const policy = new Policy(options);
  install();
  return state.here.run(policy, run);
}

/**
 * The same for what follows in this asynchronous context.
 * @returns lifts it again
 */
export function enterNetworkBlock(options: NetworkBlockOptions): () => void {
  const policy = new Policy(options);
  install();
  state.here.enterWith(policy);
  return () => {
    policy.lifted = true;
  };
}

/** Runs what may reach the network whatever this process has blocked, though not what it was itself started with. */
export function beyondNetworkBlock<Result>(run: () => Result): Result {
  return state.here.run(null, run);
}

/** @throws {RangeError} when a host is none */
export function checkNetworkBlock(options: NetworkBlockOptions): void {
  new Policy(options);
}

/** Blocks it for good. */
export function imposeNetworkBlock(blocks: readonly NetworkBlockOptions[]): void {
  install();
  state.imposed.push(...blocks.map((options) => new Policy(options)));
}
