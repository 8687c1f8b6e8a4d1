import type { Address } from "../../transport/address.ts";
import type { FramingName } from "../../wire/framing.ts";
import type { Template } from "./template.ts";

export type TransportName = Address["kind"];

export const SUITE_FILE = "contract.json";
/** JSON-RPC's own codes (https://www.jsonrpc.org/specification#error_object). */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** 750 ms: past it a client gives up, in the manner of a browser's extension whose user waits. */
export const DEFAULT_LIMIT_MS = 750;
export const DEFAULT_EVENT_TIMEOUT_MS = 2_000;

/** A call before the contract. Its response's values are what placeholders stand for. */
export interface SetupCall {
  method: string;
  request: Template;
  /** Placeholders, and pointers from the response's root. */
  bind: ReadonlyMap<string, string>;
}

interface ContractBase {
  /** The file within the suite, with slashes: `errors/download.get.not-found.json`. */
  id: string;
  file: string;
  /** The file's text. */
  text: string;
  name: string;
  description: string;
  /** Only where the target is one; undefined for any. */
  transport: TransportName | undefined;
  requires: string | undefined;
  authenticated: boolean;
  /** In the place of the suite's. */
  setup: readonly SetupCall[] | undefined;
  method: string;
  assertions: readonly string[];
}

export interface CallContract extends ContractBase {
  kind: "success" | "error";
  request: Template;
  response: Template;
  /** The golden error's code. */
  code: number | undefined;
}

/** The right behaviour is no reply. */
export interface TimeoutContract extends ContractBase {
  kind: "timeout";
  request: Template;
  limitMs: number;
}

export interface EventContract extends ContractBase {
  kind: "event";
  notification: Template;
  event: EventCause;
}

export interface EventCause {
  after: string | undefined;
  everyMs: number | undefined;
  delayMs: number;
  repeats: boolean;
  to: "all" | "caller";
}

/** A request that was written down and whose response is still to be recorded. */
export interface Unrecorded extends ContractBase {
  kind: "unrecorded";
  request: Template;
}

export type Contract = CallContract | TimeoutContract | EventContract | Unrecorded;

export interface PlaceholderDefinition {
  /** A JSON Schema; undefined where any value will do. */
  schema: unknown;
  example: unknown;
  /** Undefined: methods by their name. */
  deletedBy: readonly string[] | undefined;
  /** Undefined: methods by their name. */
  changedBy: readonly string[] | undefined;
}

/** `contract.json`. */
export interface SuiteSettings {
  schema: unknown;
  framing: FramingName;
  setup: readonly SetupCall[];
  authentication: { headers: Readonly<Record<string, string>>; request: unknown } | undefined;
  placeholders: ReadonlyMap<string, PlaceholderDefinition>;
  eventTimeoutMs: number;
  /** Patterns, already split. */
  extraMembers: readonly string[][];
  hosts: readonly string[];
  startModes: Readonly<Record<string, readonly unknown[]>>;
}
