import asyncHooks, { AsyncLocalStorage } from "node:async_hooks";
import type { Policy } from "./policy.ts";

interface State {
  /** Set from outside, for as long as the process lives. */
  readonly imposed: Policy[];
  /** Those of the whole process. */
  readonly everywhere: Set<Policy>;
  /** That of an asynchronous context; null where it is exempt from those of the whole process. */
  readonly here: AsyncLocalStorage<Policy | null>;
  installed: boolean;
}

const KEY = Symbol.for("stuntdouble.network-block");

// Where all that runs in the process finds it, beside whatever global object.
const shared = asyncHooks as { [KEY]?: State };
shared[KEY] ??= { imposed: [], everywhere: new Set(), here: new AsyncLocalStorage(), installed: false };

/** One for the process: the preload and the library are two copies of this module, as are ES module and CommonJS. */
export const state: State = shared[KEY];

/** The policies in force where this is called. */
export function policiesInForce(): Policy[] {
  const here = state.here.getStore();
  if (here === null) return state.imposed;
  return [...state.imposed, ...(here === undefined || here.lifted ? [] : [here]), ...state.everywhere];
}

/** The first of them that does not let something pass. */
export function refusing(allows: (policy: Policy) => boolean): Policy | undefined {
  return policiesInForce().find((policy) => !allows(policy));
}
