import dns from "node:dns";
import { isIP } from "node:net";
import { around } from "./around.ts";
import { refusing } from "./in-force.ts";

/** The functions of a resolver, or of the module, that ask about a name or an address. */
const ASKING = /^(lookup|lookupService|reverse|resolve.*)$/;

/** DNS: of the module's own resolver and of others, with callbacks and with promises. */
export function guardLookups(): void {
  for (const owner of [dns, dns.Resolver.prototype]) {
    guard(owner, (error, args) => {
      const callback = args.at(-1);
      // Without one, Node says so.
      if (typeof callback !== "function") throw error;
      process.nextTick(callback as (error: Error) => void, error);
      return {};
    });
  }
  for (const owner of [dns.promises, dns.promises.Resolver.prototype]) {
    guard(owner, (error) => Promise.reject(error));
  }
}

function guard(owner: object, fail: (error: Error, args: unknown[]) => unknown): void {
  for (const name of namesOf(owner)) {
    around(owner, name, (ask, self, args, from) => {
      const host = String(args[0] ?? "");
      // An address is its own answer.
      const asks = name !== "lookup" || isIP(host) === 0;
      const refuser = asks ? refusing((policy) => policy.allowsHost(host)) : undefined;
      if (refuser === undefined) return Reflect.apply(ask, self, args);
      const error = refuser.refuse("lookup", host, "ENOTFOUND", name === "lookup" ? "getaddrinfo" : name, from);
      return fail(Object.assign(error, { hostname: host }), args);
    });
  }
}

function namesOf(owner: object): string[] {
  const names = new Set<string>();
  // A resolver inherits some of them.
  for (let at: object | null = owner; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) if (ASKING.test(name)) names.add(name);
  }
  return [...names];
}
