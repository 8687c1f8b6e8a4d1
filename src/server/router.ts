import findMyWay, { type HTTPMethod } from "find-my-way";
import type { Dialect, HttpMethod, Operation } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";

export interface Routed {
  operation: Operation;
  /** From a `/@name/…` segment. */
  scenario: string | undefined;
}

/** A path and those who share it. */
interface Way {
  path: string;
  operations: Operation[];
}

/** Finds the operation that a request asks for. */
export class Router {
  readonly #ways = findMyWay({ ignoreTrailingSlash: true, maxParamLength: 2048 });
  /** Static paths answer from here: no tree walk, no new object. */
  readonly #statics = new Map<string, Map<string, Way>>();
  readonly #providers = new Set<string>();

  constructor(dialects: readonly Dialect[]) {
    const byRoute = new Map<string, Way>();
    for (const dialect of dialects) {
      for (const provider of dialect.providers) this.#providers.add(provider);
      for (const operation of dialect.operations) {
        for (const { method, path } of operation.routes) {
          const key = `${method} ${path}`;
          const known = byRoute.get(key);
          if (known !== undefined) {
            const { operations } = known;
            // Whoever recognizes its own requests is asked first; one without a claim takes the rest.
            if (operation.claims !== undefined) operations.unshift(operation);
            else operations.push(operation);
            continue;
          }
          const own: Way = { path, operations: [operation] };
          byRoute.set(key, own);
          if (path.includes(":") || path.includes("*")) this.#ways.on(method, path, () => {}, own);
          else {
            const ofMethod = this.#statics.get(method) ?? new Map<string, Way>();
            this.#statics.set(method, ofMethod.set(path, own));
          }
        }
      }
    }
  }

  /**
   * In this order: the path as it is; without its scenario segment (`/@name/…`); without its provider segment
   * (`/anthropic/…`); without any segments before a path that is known. Sets the request's path and params to
   * those of the route.
   */
  find(raw: RawRequest): Routed | undefined {
    const direct = this.#lookUp(raw, raw.path);
    if (direct !== undefined) return { operation: direct, scenario: undefined };
    let { path } = raw;
    let scenario: string | undefined;
    if (path.startsWith("/@")) {
      const end = path.indexOf("/", 2);
      if (end < 0) return undefined;
      scenario = decodeSegment(path.slice(2, end));
      path = path.slice(end);
      const operation = this.#lookUp(raw, path);
      if (operation !== undefined) return { operation, scenario };
    }
    // What is wrong in a path is not to be taken off it, which would lead to somebody else.
    if (!isDecodable(path)) return undefined;
    // A provider's segment is a prefix like any other, but it tells apart the providers that share a path.
    const provider = path.slice(1, Math.max(1, path.indexOf("/", 1)));
    let fallback: Operation | undefined;
    let rest = path;
    for (let next = rest.indexOf("/", 1); next >= 0; next = rest.indexOf("/", 1)) {
      rest = rest.slice(next);
      const operation = this.#lookUp(raw, rest, this.#providers.has(provider) ? provider : undefined);
      if (operation !== undefined) {
        fallback = operation;
        break;
      }
    }
    return fallback && { operation: fallback, scenario };
  }

  /**
   * What the path of a request is for with another method than its own: each, and who would answer it.
   * Empty for a path that is not known.
   */
  otherMethods(raw: RawRequest): Map<HttpMethod, Operation> {
    const others = new Map<HttpMethod, Operation>();
    for (const method of METHODS) {
      const found = method === raw.method ? undefined : this.#wayAt(method, raw.path);
      // Google's methods of a model (`models/m:dance`) are no part of the model's name, as which they are found.
      if (found === undefined || found.params?.["id"]?.includes(":")) continue;
      const { operations } = found.way;
      others.set(method, claimant(operations, raw) ?? operations.at(-1)!);
    }
    return others;
  }

  #wayAt(method: string, path: string): { way: Way; params?: RawRequest["params"] } | undefined {
    const way = this.#statics.get(method)?.get(path);
    if (way !== undefined) return { way };
    const found = this.#ways.find(method as HTTPMethod, path);
    return found === null ? undefined : { way: found.store as Way, params: found.params };
  }

  #lookUp(raw: RawRequest, path: string, provider?: string): Operation | undefined {
    let way = this.#statics.get(raw.routedMethod)?.get(path);
    let params: RawRequest["params"] | undefined;
    if (way === undefined) {
      const found = this.#ways.find(raw.routedMethod as HTTPMethod, path);
      if (found === null) return undefined;
      way = found.store as Way;
      params = found.params;
    }
    const { operations } = way;
    const before = raw.path;
    raw.path = path;
    let operation: Operation | undefined;
    if (provider !== undefined) {
      // A provider's own segment says more than a request's marks, which tell its operations apart.
      const own = operations.filter(({ dialect, name }) => dialect.startsWith(provider) || name.startsWith(provider));
      operation = claimant(own, raw) ?? (own.length === 1 ? own[0] : undefined);
    }
    operation ??= claimant(operations, raw);
    if (operation === undefined) {
      raw.path = before;
      return undefined;
    }
    if (params !== undefined) raw.params = params;
    raw.route = way.path;
    return operation;
  }
}

function claimant(operations: readonly Operation[], raw: RawRequest): Operation | undefined {
  for (const operation of operations) {
    if (operation.claims === undefined || operation.claims(raw)) return operation;
  }
  return undefined;
}

const METHODS: HttpMethod[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

function decodeSegment(segment: string): string {
  return isDecodable(segment) ? decodeURIComponent(segment) : segment;
}

export function isDecodable(text: string): boolean {
  if (!text.includes("%")) return true;
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
