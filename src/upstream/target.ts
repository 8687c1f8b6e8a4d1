import type { Call, Operation } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import { providerNames, providerOf, providerOfHost, providers } from "./providers.ts";

/** Where a request goes. */
export interface Target {
  provider: string;
  /** `https://api.openai.com` */
  origin: string;
  /** With its query. */
  path: string;
}

/** No upstream can be named for a request; the message says what to do. */
export class NoUpstreamError extends Error {
  override readonly name = "NoUpstreamError";
}

/**
 * Finds where a request goes: by the host that it names, by a provider's segment at the start of its path, by its
 * operation, by its key.
 * @param urls base URLs by provider, over the known ones; a path in them is kept
 * @throws {NoUpstreamError}
 */
export function targetOf(call: Asked, urls: ReadonlyMap<string, string>): Target {
  const { raw } = call;
  const path = withoutOwnParts(raw);
  const host = hostOf(raw);
  const hosted = providerOfHost(host);
  if (hosted !== undefined) return joined(hosted, urls.get(hosted) ?? `https://${host}`, path);
  const segment = segmentOf(path);
  if (segment !== undefined) return joined(segment, baseOf(segment, urls, raw), path.slice(segment.length + 1));
  const provider = providerOf(raw, path, operationOf(call), urls);
  if (provider === undefined) {
    throw new NoUpstreamError(
      `Nothing tells which provider ${raw.method} ${raw.path} is for. Begin the path with the provider's name (/openai/…); known are ${providerNames.join(", ")}.`,
    );
  }
  // Before OpenAI's own path it is the provider's segment; Azure's and Groq's paths begin so themselves.
  const prefixed = provider === "openai" && path.startsWith("/openai/v1/") ? path.slice("/openai".length) : path;
  return joined(provider, baseOf(provider, urls, raw), prefixed);
}

/** Whose API a request is for, found in the same way; undefined where nothing tells. */
export function providerAsked(call: Asked, urls: ReadonlyMap<string, string> = NO_URLS): string | undefined {
  const path = withoutOwnParts(call.raw);
  return providerOfHost(hostOf(call.raw)) ?? segmentOf(path) ?? providerOf(call.raw, path, operationOf(call), urls);
}

const NO_URLS: ReadonlyMap<string, string> = new Map();

type Asked = Pick<Call, "raw" | "operation">;

function hostOf(raw: RawRequest): string {
  return raw.header("host") ?? raw.header(":authority") ?? "";
}

/** The provider that a path names at its start. The paths of Groq and Azure begin with the name of another one. */
function segmentOf(path: string): string | undefined {
  const segment = /^\/?([^/?]*)/.exec(path)![1]!;
  return Object.hasOwn(providers, segment) && !/^\/openai\/(v1|deployments)\//.test(path) ? segment : undefined;
}

function operationOf({ operation }: Asked): Operation | undefined {
  return operation.dialect === "http" ? undefined : operation;
}

function baseOf(provider: string, urls: ReadonlyMap<string, string>, raw: RawRequest): string {
  const given = urls.get(provider);
  if (given !== undefined) return given;
  if (provider === "vertexai") {
    const location = /\/locations\/([a-z0-9-]+)\//.exec(raw.path)?.[1];
    if (location !== undefined && location !== "global") return `https://${location}-aiplatform.googleapis.com`;
  }
  if (provider === "bedrock") {
    const region = /Credential=[^/]+\/\d+\/([a-z0-9-]+)\//.exec(raw.header("authorization") ?? "")?.[1];
    const named = region ?? process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"];
    if (named !== undefined) return `https://bedrock-runtime.${named}.amazonaws.com`;
  }
  const { url } = providers[provider]!;
  if (url !== undefined) return url;
  throw new NoUpstreamError(
    `${provider} has no address that is everybody's: give yours with --provider-${provider} https://….`,
  );
}

/** The path as the provider knows it: without the scenario, a doubled version, and the parameters that are ours. */
function withoutOwnParts({ url }: RawRequest): string {
  let path = url;
  if (path.startsWith("/@")) {
    const end = path.indexOf("/", 2);
    path = end < 0 ? "/" : path.slice(end);
  }
  // Of two SDKs that read one variable, one takes the version for a part of the base URL and the other adds it.
  path = path.replace(/(\/(?:openai\/)?v\d\w*)\1\//, "$1/");
  // AzureOpenAI for JavaScript takes OpenAI's variable for its own.
  path = path.replace(/^\/v1\/deployments\//, "/openai/deployments/");
  if (!path.includes("testId=")) return path;
  return path.replace(/([?&])testId=[^&#]*(&|$)/g, (_, before: string, after: string) => (after === "&" ? before : ""));
}

/** A path whose first segments are the base's last ones is not doubled: `…/v1` and `/v1/models` are `…/v1/models`. */
function joined(provider: string, base: string, given: string): Target {
  const { origin, segments } = partsOf(base);
  const path = given.startsWith("/") ? given : `/${given}`;
  if (segments.length === 0) return { provider, origin, path };
  const after = path
    .split("?", 1)[0]!
    .split("/")
    .filter((segment) => segment !== "");
  let shared = Math.min(segments.length, after.length);
  while (shared > 0 && segments.slice(-shared).some((segment, index) => segment !== after[index])) shared--;
  const kept = segments.slice(0, segments.length - shared);
  return { provider, origin, path: kept.map((segment) => `/${segment}`).join("") + path };
}

interface BaseParts {
  origin: string;
  segments: readonly string[];
}

const MOST_BASES = 256;
const knownBases = new Map<string, BaseParts>();

/** There are few base URLs, and every call has one. */
function partsOf(base: string): BaseParts {
  const known = knownBases.get(base);
  if (known !== undefined) return known;
  // A user in it is for nobody: neither is it sent, nor must a message show it.
  const plain = base.replace(/\/+$/, "").replace(/^(https?:\/\/)[^/]*@/, "$1");
  const [, origin = plain, path = ""] = /^(https?:\/\/[^/]+)(\/.*)?$/.exec(plain) ?? [];
  const parts = { origin, segments: path.split("/").filter((segment) => segment !== "") };
  if (knownBases.size >= MOST_BASES) knownBases.clear();
  knownBases.set(base, parts);
  return parts;
}
