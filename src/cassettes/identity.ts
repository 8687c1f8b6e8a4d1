import { createHash } from "node:crypto";
import type { ChatRequest } from "../chat/request.ts";
import { DEFAULT_TEST_ID } from "../dialects/call.ts";
import type { Call } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import { canonicalJson, type Identifier } from "../fixtures/identity.ts";
import { type Redactor, withoutNumbers } from "../guard/redact.ts";
import type { MatchMode } from "./match-mode.ts";

/** The scenario of calls that name none. */
export const DEFAULT_SCENARIO = "auto";
/** Who calls, where nobody says. */
export const UNKNOWN_INVOKER = "unknown_invoker";

/** Where a call's recording belongs. Without the occurrence, which is counted. */
export interface Place {
  scenario: string;
  /** Dots are underscores. */
  invoker: string;
  filename: string | undefined;
  fingerprint: string;
  /** Of what shapes the answer's form alone. */
  form: string;
}

export interface PlacerOptions {
  identifier: Identifier;
  redactor: Redactor;
  match: MatchMode;
  ignore: readonly string[];
  /** Of calls that name none. */
  scenario: string;
}

/** Says where each call belongs. */
export class Placer {
  readonly #options: PlacerOptions;

  constructor(options: PlacerOptions) {
    this.#options = options;
  }

  placeOf(call: Call): Place {
    const { raw } = call;
    const { identifier, ignore, scenario } = this.#options;
    const named = scenarioOf(raw, call.testId);
    // An unknown path still has its scenario before it, which is none of the call's own business.
    if (raw.path.startsWith("/@")) raw.path = raw.path.slice(Math.max(0, raw.path.indexOf("/", 2)));
    const { fingerprint, form } = identifier.of(raw, ignore);
    return {
      scenario: named ?? scenario,
      invoker: invokerName(header(raw, "x-vcr-invoker")),
      filename: header(raw, "x-vcr-filename"),
      fingerprint: this.#loosened(call) ?? fingerprint,
      form,
    };
  }

  /** The request as it is compared with a redacted recording. */
  comparable(value: unknown): unknown {
    return JSON.parse(withoutNumbers(this.#options.redactor.match().json(JSON.stringify(value) ?? "null", "request")));
  }

  #loosened(call: Call): string | undefined {
    const { match } = this.#options;
    if (match === "exact") return undefined;
    if (match === "position") return hash("position");
    const { messages } = call.view.request as Partial<ChatRequest>;
    if (call.operation.output !== "chat" || !Array.isArray(messages)) return undefined;
    return hash(canonicalJson(this.comparable(match === "messages" ? messages : messages.at(-1))));
  }
}

/** The scenario that a call names, by a header, its path or its test id. */
export function scenarioOf(raw: RawRequest, testId: string): string | undefined {
  return header(raw, "x-vcr-scenario") ?? pathScenario(raw.url) ?? (testId === DEFAULT_TEST_ID ? undefined : testId);
}

/** Who calls, as Fiber writes it into names of files. */
export function invokerName(text: string | undefined): string {
  return text === undefined || text === "" ? UNKNOWN_INVOKER : text.replaceAll(".", "_");
}

/** Header values are percent-encoded where they are no plain text. */
function header(raw: RawRequest, name: string): string | undefined {
  const value = raw.header(name);
  if (value === undefined || value === "") return undefined;
  if (!value.includes("%")) return value;
  return decoded(value);
}

function pathScenario(url: string): string | undefined {
  if (!url.startsWith("/@")) return undefined;
  const end = url.indexOf("/", 2);
  const name = decoded(url.slice(2, end < 0 ? undefined : end));
  return name === "" ? undefined : name;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
