import { blockNetwork, type NetworkBlockOptions } from "../../guard/network-block.ts";
import { dispatchCaught } from "./catch-dispatched.ts";
import type { VcrOptions } from "./options.ts";
import type { VcrScope } from "./scope.ts";
import { currentScope, enterScope, runInScope } from "./scopes.ts";

export type { NetworkBlockedError, NetworkBlockOptions, Refusal, RefusalKind } from "../../guard/network-block.ts";
export type { CassetteMode } from "../../server/cassette-options.ts";
export { VcrError } from "./errors.ts";
export type { VcrOptions } from "./options.ts";
export type { VcrScope } from "./scope.ts";

type Run<Result> = (scope: VcrScope) => Result | Promise<Result>;

let lift: (() => void) | undefined;

/**
 * Runs a function whose calls to providers are answered from the cassettes of a scenario, or recorded into them. No
 * base URL is needed: calls by `fetch`, `node:http`, `node:https` and undici are caught, as are those of all that the
 * function starts. Scopes at the same time are told apart by their asynchronous context.
 * @param name of the scenario
 * @returns what the function gives
 * @throws {VcrError} when a call had no tape, when a cassette was not asked for while replaying, when no call was made,
 * or when a recording is lost
 */
function use<Result>(name: string, run: Run<Result>): Promise<Result>;
function use<Result>(name: string, options: VcrOptions, run: Run<Result>): Promise<Result>;
/**
 * The same for what follows in this asynchronous context, until it is disposed of:
 * `await using scope = vcr.use("checkout")`, or `scope.close()`.
 */
function use(name: string, options?: VcrOptions): VcrScope;
function use<Result>(
  name: string,
  given: VcrOptions | Run<Result> = {},
  run?: Run<Result>,
): Promise<Result> | VcrScope {
  if (typeof given === "function") return runInScope(name, {}, given);
  return run === undefined ? enterScope(name, given) : runInScope(name, given, run);
}

export const vcr = {
  use,
  /** Catches what goes through a dispatcher of one's own: `new Agent().compose(vcr.interceptor)`, of undici. */
  interceptor: dispatchCaught(currentScope),
  network: {
    /**
     * From now on nothing leaves this machine from this process, and from those of Node that it starts, but for what
     * is on the lists. In the place of what was blocked before.
     * @throws {RangeError} when a host is none
     */
    block(options: NetworkBlockOptions = {}): void {
      const next = blockNetwork(options);
      lift?.();
      lift = next;
    },
    /** Lifts what `block` has blocked. */
    unblock(): void {
      lift?.();
      lift = undefined;
    },
  },
};
