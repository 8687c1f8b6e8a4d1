import type { Called } from "./callers.ts";

/** @param from stands in the stack at the place of the call */
type Run = (original: Called, self: never, args: unknown[], from: Called) => unknown;

/**
 * Puts a function around one that an object has. What hangs on the one inside, such as its form for `promisify`,
 * stays.
 */
export function around(owner: object, name: string, run: Run): void {
  const functions = owner as Record<string, Called | undefined>;
  const original = functions[name];
  // Not every version of Node has all of them.
  if (typeof original !== "function") return;
  const apply: Called = (target: Called, self: never, args: unknown[]) => run(target, self, args, apply);
  functions[name] = new Proxy(original, { apply });
}

type AnyClass = new (...args: never[]) => object;

/**
 * The same around a class.
 * @param run makes the new one
 */
export function aroundNew(
  owner: object,
  name: string,
  run: (make: (args: unknown[]) => object, args: unknown[], from: Called) => object,
): void {
  const classes = owner as Record<string, AnyClass | undefined>;
  const original = classes[name];
  if (typeof original !== "function") return;
  const construct: Called = (target: AnyClass, given: never[], newTarget: AnyClass) =>
    run((args) => Reflect.construct(target, args as never[], newTarget), given, construct);
  classes[name] = new Proxy(original, { construct });
}
