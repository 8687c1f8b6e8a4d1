import { AsyncLocalStorage } from "node:async_hooks";
import { blockNetwork, enterNetworkBlock, withNetworkBlocked } from "../../guard/network-block.ts";
import { catchCalls } from "./catch-calls.ts";
import { VcrError } from "./errors.ts";
import type { VcrOptions } from "./options.ts";
import { VcrScope } from "./scope.ts";

/** A scope, and the one that it stands in. */
interface Nested {
  scope: VcrScope;
  outer: Nested | undefined;
}

const here = new AsyncLocalStorage<Nested | undefined>();
/** That of all calls without one of their own. */
let everywhere: VcrScope | undefined;

/** The scope that a call made here belongs to. */
export function currentScope(): VcrScope | undefined {
  let nested = here.getStore();
  // What was started in a scope may outlive it.
  while (nested?.scope.closed) nested = nested.outer;
  return nested?.scope ?? everywhere;
}

let open = 0;
let letGo = (): void => {};

function openScope(name: string, options: VcrOptions, onClose = (): void => {}): VcrScope {
  const scope = new VcrScope(name, options, () => {
    onClose();
    open--;
    if (open === 0) letGo();
  });
  open++;
  if (open === 1) letGo = catchCalls(currentScope);
  return scope;
}

/** Runs a function whose calls, and those of all that it starts, belong to a scope. */
export async function runInScope<Result>(
  name: string,
  options: VcrOptions,
  run: (scope: VcrScope) => Result | Promise<Result>,
): Promise<Result> {
  const scope = openScope(name, options);
  const blocked = async (): Promise<Result> =>
    scope.blocks === undefined ? run(scope) : withNetworkBlocked(scope.blocks, () => run(scope));
  let result: Result;
  try {
    result = await here.run({ scope, outer: here.getStore() }, blocked);
  } catch (error) {
    await scope.close({ error });
    throw error;
  }
  await scope.close();
  return result;
}

/** A scope for what follows in this asynchronous context, until it is closed. */
export function enterScope(name: string, options: VcrOptions): VcrScope {
  const scope = openScope(name, options, () => lift?.());
  const lift = scope.blocks && enterNetworkBlock(scope.blocks);
  here.enterWith({ scope, outer: here.getStore() });
  return scope;
}

/**
 * A scope for all calls of the process that belong to none, until it is closed.
 * @throws {VcrError} when there is one already
 */
export function openEverywhere(name: string, options: VcrOptions): VcrScope {
  if (everywhere !== undefined) {
    throw new VcrError(
      `The cassettes of ${JSON.stringify(everywhere.name)} are still open: two tests at the same time cannot be told apart. Wrap each in vcr.use() instead.`,
    );
  }
  const scope = openScope(name, options, () => {
    everywhere = undefined;
    lift?.();
  });
  const lift = scope.blocks && blockNetwork(scope.blocks);
  everywhere = scope;
  return scope;
}
