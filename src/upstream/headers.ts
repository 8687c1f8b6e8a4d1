import type { RawRequest } from "../dialects/raw-request.ts";
import { providers } from "./providers.ts";

/** Names and values by turns. */
export type HeaderList = string[];

/** They are about one connection, or about a body that is sent anew. */
const NOT_FORWARDED = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer"],
  ...[
    "transfer-encoding",
    "upgrade",
    "http2-settings",
    "host",
    "content-length",
    "content-encoding",
    "expect",
    "cookie",
  ],
]);
/** Between a client and its double only. */
const OWN = /^(x-stuntdouble-|x-aimock-|x-vcr-|x-test-id$)/;
/** Keys that stand for none. */
const PLACEHOLDER = /^(sk-aimock-|sk-stuntdouble-)/;

const KEY_HEADERS = ["authorization", "x-api-key", "x-goog-api-key", "api-key", "xi-api-key"] as const;

/**
 * The headers that a request goes on with.
 * @param key is put in where the caller sent none, or a placeholder
 * @param codings of the reply that are not taken out of what the caller accepts; all unless given
 */
export function requestHeaders(
  raw: RawRequest,
  provider: string,
  key: string | undefined,
  codings?: ReadonlySet<string>,
): HeaderList {
  const named = connectionTokens(raw.header("connection"));
  const injects = key !== undefined && hasNoKey(raw);
  const list: HeaderList = [];
  for (const name in raw.headers) {
    const value = raw.headers[name];
    if (value === undefined || name.startsWith(":") || NOT_FORWARDED.has(name) || OWN.test(name) || named.has(name))
      continue;
    if (injects && (KEY_HEADERS as readonly string[]).includes(name)) continue;
    if (codings !== undefined && name === "accept-encoding") continue;
    for (const one of Array.isArray(value) ? value : [value]) list.push(name, one);
  }
  if (injects) {
    const { keyHeader } = providers[provider] ?? { keyHeader: "authorization" };
    list.push(keyHeader, keyHeader === "authorization" ? `Bearer ${key}` : key);
  }
  if (codings !== undefined) list.push("accept-encoding", acceptedOf(raw, codings));
  return list;
}

function acceptedOf(raw: RawRequest, codings: ReadonlySet<string>): string {
  const accepted = (raw.header("accept-encoding") ?? "").split(",").map((coding) => coding.trim());
  const kept = accepted.filter((coding) => codings.has(coding.split(";", 1)[0]!.trim().toLowerCase()));
  return kept.length > 0 ? kept.join(", ") : "identity";
}

function hasNoKey(raw: RawRequest): boolean {
  const queryKey = raw.url.includes("key=") ? raw.query.get("key") : null;
  if (queryKey !== null && !PLACEHOLDER.test(queryKey)) return false;
  return KEY_HEADERS.every((name) => {
    const value = raw.header(name)?.replace(/^(Bearer|Key) +/i, "") ?? "";
    return value === "" || PLACEHOLDER.test(value);
  });
}

/** The key for a provider from the environment; an empty one is none. */
export function keyFromEnvironment(provider: string): string | undefined {
  const name = `PROVIDER_${provider.toUpperCase()}_KEY`;
  return process.env[`STUNTDOUBLE_${name}`] || process.env[`AIMOCK_${name}`] || undefined;
}

/** The headers of a provider's reply that are not about the connection to it. */
export function replyHeaders(headers: Record<string, string | string[] | undefined>): HeaderList {
  const named = connectionTokens(one(headers["connection"]));
  return headerList(headers, (name) => name.startsWith(":") || HOP_BY_HOP.has(name) || named.has(name));
}

export function headerList(
  headers: Record<string, string | string[] | undefined>,
  isLeftOut: (name: string) => boolean = () => false,
): HeaderList {
  const kept: HeaderList = [];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || isLeftOut(name)) continue;
    if (typeof value === "string") kept.push(name, value);
    else for (const single of value) kept.push(name, single);
  }
  return kept;
}

/** The value of the first header of that name, which is in lower case. */
export function headerOf(headers: HeaderList, name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return headers[at + 1];
  return undefined;
}

/** Each with its value. */
export function headerPairs(headers: HeaderList): [name: string, value: string][] {
  return headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]!]] : []));
}

const HOP_BY_HOP = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer"],
  ...["transfer-encoding", "upgrade"],
]);

const NO_TOKENS: ReadonlySet<string> = new Set();

function connectionTokens(value: string | undefined): ReadonlySet<string> {
  if (value === undefined || value === "keep-alive") return NO_TOKENS;
  return new Set(
    (value ?? "")
      .toLowerCase()
      .split(",")
      .map((token) => token.trim()),
  );
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}
