import { AsyncLocalStorage } from "node:async_hooks";

// biome-ignore lint/suspicious/noExplicitAny: functions of Node's, whatever they take.
export type Called = (...args: any[]) => any;

interface Place {
  stack: string;
}

/** The call that led here, where what opens the connection comes later and by a way of its own. */
const callers = new AsyncLocalStorage<Place>();

/** Frames of Node and of clients stand between a socket and who wants it. */
const DEEPEST = 50;

function placeOf(from: Called): Place {
  const place = { stack: "" };
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = DEEPEST;
  Error.captureStackTrace(place, from);
  Error.stackTraceLimit = stackTraceLimit;
  return place;
}

/** The lines of a stack below a function that has been called. */
export function stackFrom(from: Called): string {
  const { stack } = callers.getStore() ?? placeOf(from);
  return stack.split("\n").slice(1).join("\n");
}

/** Runs what opens connections on behalf of the caller of a function. */
export function onBehalfOf<Result>(from: Called, run: () => Result): Result {
  return callers.run(placeOf(from), run);
}
