import { CaughtDispatch, type DispatchOptions } from "./dispatch.ts";
import type { DispatchHandler, OlderHandler } from "./dispatch-handler.ts";
import type { FindScope } from "./scope.ts";

export type Dispatch = (options: DispatchOptions, handler: DispatchHandler | OlderHandler) => boolean;

interface Dispatcher {
  dispatch: Dispatch;
}

/** Under which each version of undici keeps what dispatches for `fetch`, `request` and the rest. */
const GLOBAL = ["undici.globalDispatcher.1", "undici.globalDispatcher.2"].map((name) => Symbol.for(name));

/** An interceptor for `Dispatcher.compose`. */
export function dispatchCaught(find: FindScope): (dispatch: Dispatch) => Dispatch {
  return (dispatch) => (options, handler) => {
    const scope = find();
    const url = scope && urlOf(options);
    if (url === undefined || !scope?.catches(url)) return dispatch(options, handler);
    void new CaughtDispatch(handler).answer(scope, url, options);
    return true;
  };
}

/**
 * Catches what goes through undici: `fetch`, also by clients that took hold of it long before, and the package. It is
 * caught at the dispatcher rather than at `globalThis.fetch`, so that `fetch` itself follows, decompresses, aborts and
 * fails in its own way.
 */
export function catchDispatched(find: FindScope): () => void {
  const intercept = dispatchCaught(find);
  const caught = new WeakMap<object, Dispatcher>();
  const around = (dispatcher: Dispatcher): Dispatcher => {
    let outer = caught.get(dispatcher);
    if (outer === undefined) {
      const dispatch = intercept(dispatcher.dispatch.bind(dispatcher));
      outer = new Proxy(dispatcher, {
        get: (target, key) => (key === "dispatch" ? dispatch : Reflect.get(target, key)),
      });
      caught.set(dispatcher, outer);
    }
    return outer;
  };
  // Node makes its own only when something of `fetch` is needed.
  new Response();
  const slots = globalObjects().flatMap((globals) =>
    GLOBAL.flatMap((name) => {
      const inner = globals[name];
      if (inner === undefined) return [];
      const outer = around(inner);
      globals[name] = outer;
      return [{ globals, name, inner, outer }];
    }),
  );
  const { fetch } = globalThis;
  // One that is given to a call by itself, as for a proxy.
  const ours = (input: RequestInfo | URL, init?: RequestInit & { dispatcher?: Dispatcher }): Promise<Response> =>
    fetch(input, init?.dispatcher ? ({ ...init, dispatcher: around(init.dispatcher) } as RequestInit) : init);
  globalThis.fetch = ours as typeof fetch;
  return () => {
    for (const { globals, name, inner, outer } of slots) if (globals[name] === outer) globals[name] = inner;
    if (globalThis.fetch === ours) globalThis.fetch = fetch;
  };
}

type Globals = Record<symbol, Dispatcher | undefined>;

/** Jest runs tests beside another global object, which is not the one that `fetch` has its dispatcher from. */
function globalObjects(): Globals[] {
  const own = globalThis as unknown as Globals;
  try {
    const ofFetch = Response.constructor("return globalThis")() as Globals;
    return ofFetch === own ? [own] : [own, ofFetch];
  } catch {
    // No code is made of text here (--disallow-code-generation-from-strings), nor are tests run beside it.
    return [own];
  }
}

function urlOf({ origin, path }: DispatchOptions): URL | undefined {
  // A pool or a client for one origin does not say which.
  return origin === undefined || origin === null ? undefined : new URL(path, origin);
}
