import { readFileSync } from "node:fs";
import { type ParseError, parse } from "jsonc-parser";
import { isObject, type JsonObject, kindOf } from "../dialects/raw-request.ts";
import { type Fields, faultsIn } from "./config-fields.ts";
import type { ServeSettings } from "./run-serve.ts";

/** A configuration file cannot be used; the message says why. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const CHAOS: Fields = {
  dropRate: "rate",
  malformedRate: "rate",
  rateLimitRate: "rate",
  disconnectRate: "rate",
  latencyMs: "number",
};
const RECORD: Fields = {
  providers: "object",
  fixturePath: "string",
  proxyOnly: "boolean",
  recordFullModelVersion: "boolean",
  upstreamTimeoutMs: "number",
  bodyTimeoutMs: "number",
  maxProxyBufferBytes: "number",
};
const LLM: Fields = {
  fixtures: "string or list",
  latency: "number",
  chunkSize: "number",
  replaySpeed: "number",
  logLevel: ["silent", "warn", "info", "debug"],
  chaos: CHAOS,
  record: RECORD,
};
const FILE: Fields = {
  $schema: "string",
  port: "number",
  host: "string",
  metrics: "boolean",
  strict: "boolean",
  guard: "string",
  redact: "string or object",
  auth: { apiKeys: "list" },
  llm: LLM,
};

/** Sections of aimock's for which there is nothing here yet. */
const NOT_THERE = ["mcp", "a2a", "agui", "vector", "services"];

/**
 * What an `aimock.json` says, as the command line would say it.
 * @throws {ConfigError} with everything that is wrong with it
 */
export function readAimockConfig(path: string): Partial<ServeSettings> {
  const config = contentOf(path);
  const missing = NOT_THERE.filter((name) => config[name] !== undefined);
  const faults = [
    ...missing.map((name) => `/${name}: there is no ${name} here yet; take it out, or keep aimock for it`),
    ...faultsIn(Object.fromEntries(Object.entries(config).filter(([name]) => !missing.includes(name))), FILE, ""),
  ];
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `${path}: ${fault}`).join("\n"));
  return settingsOf(config);
}

function contentOf(path: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError(`--config: cannot read ${path}: ${(error as Error).message}`);
  }
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  if (errors.length > 0) throw new ConfigError(`${path}: it is not JSON (at character ${errors[0]!.offset})`);
  if (!isObject(value)) throw new ConfigError(`${path}: expected an object, but it is ${kindOf(value)}`);
  return value;
}

function settingsOf(config: JsonObject): Partial<ServeSettings> {
  const { port, host, metrics, strict, guard, redact, auth, llm = {} } = config as AimockConfig;
  const { fixtures, latency, chunkSize, replaySpeed, logLevel, chaos = {}, record } = llm;
  const settings: Partial<ServeSettings> = {
    port,
    host,
    latency,
    chunkSize,
    replaySpeed,
    logLevel,
    chaosDrop: chaos.dropRate,
    chaosMalformed: chaos.malformedRate,
    chaosRateLimit: chaos.rateLimitRate,
    chaosDisconnect: chaos.disconnectRate,
    chaosLatency: chaos.latencyMs,
    guard,
    redact,
    ...(fixtures !== undefined && { fixtures: [fixtures].flat() }),
    ...(strict && { strict: true }),
    // Who has an aimock.json has dashboards that know its names.
    ...(metrics && { metrics: true, metricsCompat: true }),
    ...(auth !== undefined && { apiKey: auth.apiKeys }),
    ...(record !== undefined && recordFlags(record)),
  };
  return Object.fromEntries(
    Object.entries<unknown>(settings).filter(([, value]) => value !== undefined),
  ) as typeof settings;
}

/** After `faultsIn` has found nothing. */
interface AimockConfig extends Pick<Partial<ServeSettings>, "port" | "host" | "guard" | "redact"> {
  metrics?: boolean;
  strict?: boolean;
  auth?: { apiKeys: string[] };
  llm?: Pick<Partial<ServeSettings>, "latency" | "chunkSize" | "replaySpeed" | "logLevel"> & {
    fixtures?: string | string[];
    chaos?: Record<string, number>;
    record?: RecordSection;
  };
}

interface RecordSection {
  providers?: Record<string, string>;
  fixturePath?: string;
  proxyOnly?: boolean;
  recordFullModelVersion?: boolean;
  upstreamTimeoutMs?: number;
  bodyTimeoutMs?: number;
  maxProxyBufferBytes?: number;
}

function recordFlags({
  providers = {},
  proxyOnly,
  recordFullModelVersion,
  fixturePath,
  ...limits
}: RecordSection): object {
  const urls = Object.entries(providers).map(([name, url]) => [
    `provider${name[0]?.toUpperCase()}${name.slice(1)}`,
    url,
  ]);
  return {
    ...limits,
    ...Object.fromEntries(urls),
    ...(proxyOnly ? { proxyOnly: true } : { record: true }),
    ...(recordFullModelVersion && { recordFullModelVersion: true }),
    recordFolder: fixturePath ?? "./fixtures/recorded",
  };
}

/** Keys that callers have to send, from the environment: `STUNTDOUBLE_API_KEYS` or aimock's, with commas between. */
export function apiKeysInEnvironment(): string[] | undefined {
  const { STUNTDOUBLE_API_KEYS: own, AIMOCK_API_KEYS: theirs } = process.env;
  return (own ?? theirs)?.split(",").map((key) => key.trim());
}
