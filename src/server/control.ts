import type { ApiErrorFields } from "../dialects/api-error.ts";
import { ApiError } from "../dialects/api-error.ts";
import { isObject, type JsonObject, jsonObject, type RawRequest } from "../dialects/raw-request.ts";
import { parseFixtures } from "../fixtures/load.ts";
import type { Chaos, Fixture } from "../fixtures/types.ts";
import type { GuardOptions } from "../guard/options.ts";
import type { JournalEntry, JournalFilter } from "../state/journal.ts";
import type { CassetteState } from "./cassette-options.ts";
import { chaosFault } from "./chaos.ts";
import { type ExplainRequest, explainRequest } from "./explain-request.ts";
import type { GuardCounts } from "./guard-counts.ts";
import type { Outcome } from "./outcome.ts";
import { jsonOutcome } from "./own-paths.ts";
import { RECORD_MODES, type RecordMode } from "./recording.ts";

/** Whose fixtures, errors, chaos and calls are meant; without a test id, everybody's. */
export interface Scope {
  testId?: string;
}

/** What can be done to a double while it runs. */
export interface Controlled {
  calls(filter?: JournalFilter): JournalEntry[];
  clearCalls(scope?: Scope): unknown;
  addFixtures(fixtures: readonly Fixture[], scope?: Scope): unknown;
  clearFixtures(scope?: Scope): unknown;
  nextRequestError(status: number, error: Partial<Omit<ApiErrorFields, "status">>, scope?: Scope): unknown;
  chaos(scope?: Scope): Chaos;
  setChaos(chaos: Chaos, scope?: Scope): unknown;
  clearChaos(scope?: Scope): unknown;
  reset(scope?: Scope): unknown;
  explain(request: ExplainRequest): Promise<unknown>;
  readonly guard: GuardCounts | undefined;
  setGuard(options?: GuardOptions): Promise<unknown>;
  readonly recordMode: RecordMode;
  setRecordMode(mode: RecordMode): unknown;
  cassettes(): Promise<CassetteState>;
  resetCassettes(scenario?: string): unknown;
}

type Action = (double: Controlled, raw: RawRequest, scope: Scope) => Outcome | Promise<Outcome>;

const PREFIXES = ["/__stuntdouble", "/__aimock"];

/** What there is under each prefix, besides `/health`, which is open to all. */
const ACTIONS: Readonly<Record<string, Readonly<Record<string, Action>>>> = {
  "/journal": {
    GET: readJournal,
    DELETE: (double, _, scope) => {
      double.clearCalls(scope);
      return jsonOutcome(200, { reset: true });
    },
  },
  "/fixtures": {
    POST: addFixtures,
    DELETE: (double, _, scope) => {
      double.clearFixtures(scope);
      return jsonOutcome(200, { cleared: true });
    },
  },
  "/chaos": {
    GET: (double, _, scope) => jsonOutcome(200, { chaos: double.chaos(scope) }),
    POST: setChaos,
    DELETE: (double, _, scope) => {
      double.clearChaos(scope);
      return jsonOutcome(200, { chaos: double.chaos(scope) });
    },
  },
  "/guard": {
    GET: readGuard,
    POST: setGuard,
    DELETE: async (double, raw, scope) => {
      await double.setGuard();
      return readGuard(double, raw, scope);
    },
  },
  "/explain": {
    POST: async (double, raw, { testId }) => {
      const request = explainRequest(jsonObject(raw));
      const headers = { ...(testId !== undefined && { "x-test-id": testId }), ...request.headers };
      return jsonOutcome(200, await double.explain({ ...request, headers }));
    },
  },
  "/error": { POST: queueError },
  "/record": {
    GET: (double) => jsonOutcome(200, { mode: double.recordMode }),
    POST: setRecordMode,
  },
  "/cassettes": {
    GET: async (double, raw) => {
      const state = await double.cassettes();
      const unused = raw.query.get("unused") === "true";
      return jsonOutcome(200, {
        ...state,
        cassettes: unused ? state.cassettes.filter(({ served }) => served === 0) : state.cassettes,
      });
    },
  },
  "/cassettes/reset": {
    POST: (double, raw, { testId }) => {
      double.resetCassettes(raw.query.get("scenario") ?? testId);
      return jsonOutcome(200, { reset: true });
    },
  },
  "/reset": { POST: reset },
  "/reset/journal": {
    POST: (double, _, scope) => {
      double.clearCalls(scope);
      return jsonOutcome(200, { reset: true });
    },
  },
  "/reset/fixtures": {
    POST: (double, raw, scope) => {
      const outcome = reset(double, raw, scope);
      outcome.headers.push("deprecation", "true", "link", '</__stuntdouble/reset>; rel="successor-version"');
      return outcome;
    },
  },
};

/** The same under the paths that aimock had first. */
const OLDER: Readonly<Record<string, Action>> = {
  GET: readJournal,
  DELETE: (double, _, scope) => {
    double.clearCalls(scope);
    return { status: 204, headers: ["access-control-allow-origin", "*"], body: "", streamed: false };
  },
};

/** Methods and paths below the prefixes, as the documentation lists them. */
export function controlRoutes(): { method: string; path: string }[] {
  return Object.entries(ACTIONS).flatMap(([path, methods]) => Object.keys(methods).map((method) => ({ method, path })));
}

/** The answer to a request of the control API; undefined for any other. */
export function control(double: Controlled, raw: RawRequest): Outcome | Promise<Outcome> | undefined {
  const { path } = raw;
  if (path === "/v1/_requests") return answer(OLDER, double, raw);
  if (!path.startsWith("/__")) return undefined;
  const prefix = PREFIXES.find((candidate) => path === candidate || path.startsWith(`${candidate}/`));
  if (prefix === undefined) return undefined;
  const rest = path.slice(prefix.length);
  if (Object.hasOwn(ACTIONS, rest)) return answer(ACTIONS[rest]!, double, raw);
  const known = Object.keys(ACTIONS).map((name) => prefix + name);
  return fault(404, `Unknown control endpoint: ${path}. There are ${known.join(", ")}.`);
}

function answer(
  methods: Readonly<Record<string, Action>>,
  double: Controlled,
  raw: RawRequest,
): Outcome | Promise<Outcome> {
  const action = Object.hasOwn(methods, raw.routedMethod) ? methods[raw.routedMethod] : undefined;
  if (action === undefined) {
    const allowed = Object.keys(methods).join(", ");
    return fault(405, `${raw.path} takes ${allowed}, not ${raw.method}.`, ["allow", allowed]);
  }
  try {
    const outcome = action(double, raw, scopeOf(raw));
    return outcome instanceof Promise ? outcome.catch(failure) : outcome;
  } catch (error) {
    return failure(error);
  }
}

function failure(error: unknown): Outcome {
  if (error instanceof ApiError) return fault(error.status, error.message);
  return fault(500, `The control API failed: ${error instanceof Error ? error.message : String(error)}`);
}

function setRecordMode(double: Controlled, raw: RawRequest): Outcome {
  const { mode } = jsonObject(raw);
  const known = RECORD_MODES.find((candidate) => candidate === mode);
  if (known === undefined) return fault(400, `"mode" has to be one of ${RECORD_MODES.join(", ")}.`);
  double.setRecordMode(known);
  return jsonOutcome(200, { mode: known });
}

function fault(status: number, message: string, headers: readonly string[] = []): Outcome {
  const type = status === 404 ? "not_found" : "invalid_request_error";
  return jsonOutcome(status, { error: { message, type } }, headers);
}

/** Both ways in which calls name their test id; nobody is meant by none. */
function scopeOf(raw: RawRequest): Scope {
  const testId = raw.header("x-test-id") ?? raw.query.get("testId");
  return testId === undefined || testId === null || testId === "" ? {} : { testId };
}

function readJournal(double: Controlled, raw: RawRequest, scope: Scope): Outcome {
  const { query } = raw;
  const path = query.get("path");
  const status = query.get("status");
  const limit = query.get("limit");
  const entries = double.calls({
    ...scope,
    ...(path !== null && { path }),
    ...(status !== null && { status: wholeNumber("status", status) }),
  });
  // The newest, since that is what somebody who limits wants to see.
  const shown = limit === null ? entries : entries.slice(-Math.max(1, wholeNumber("limit", limit)));
  return jsonOutcome(200, shown, ["x-total-count", String(entries.length)]);
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) {
    throw new ApiError({ status: 400, message: `?${name}= has to be a whole number, but it is "${text}".` });
  }
  return Number(text);
}

function addFixtures(double: Controlled, raw: RawRequest, scope: Scope): Outcome {
  const { fixtures, faults } = parseFixtures(raw.text, raw.path);
  if (faults.length > 0) {
    const lines = faults.map(({ pointer, message }) => (pointer === "" ? message : `${pointer}: ${message}`));
    return jsonOutcome(400, {
      error: {
        message: `No fixture was added. ${lines.join("; ")}`,
        type: "invalid_request_error",
        faults: faults.map(({ pointer, message }) => ({ pointer, message })),
      },
    });
  }
  double.addFixtures(fixtures, scope);
  return jsonOutcome(200, { added: fixtures.length });
}

function setChaos(double: Controlled, raw: RawRequest, scope: Scope): Outcome {
  const chaos = jsonObject(raw);
  const message = chaosFault(chaos);
  if (message !== undefined) return fault(400, message);
  double.setChaos(chaos, scope);
  return jsonOutcome(200, { chaos: double.chaos(scope) });
}

function readGuard(double: Controlled, _: RawRequest, __: Scope): Outcome {
  return jsonOutcome(200, { guard: double.guard ?? null });
}

async function setGuard(double: Controlled, raw: RawRequest, scope: Scope): Promise<Outcome> {
  const { readGuardOptions } = await import("../guard/options.ts");
  try {
    await double.setGuard(await readGuardOptions(jsonObject(raw)));
  } catch (error) {
    if (error instanceof ApiError || !(error instanceof Error)) throw error;
    return fault(400, `The guard was not changed. ${error.message}`);
  }
  return readGuard(double, raw, scope);
}

function queueError(double: Controlled, raw: RawRequest, scope: Scope): Outcome {
  const body = jsonObject(raw);
  const { status } = body;
  if (!(typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 599)) {
    return fault(
      400,
      `"status" has to be a whole number from 400 to 599, but it is ${JSON.stringify(status) ?? "missing"}.`,
    );
  }
  const given = body["body"] ?? {};
  if (!isObject(given)) return fault(400, `"body" has to be an object: {"message": …, "type": …, "code": …}.`);
  // Some write it as it is sent: {"error": {…}}.
  double.nextRequestError(status, errorFields(isObject(given["error"]) ? given["error"] : given), scope);
  return jsonOutcome(200, { queued: true });
}

function errorFields({ message, type, code, param, retryAfter }: JsonObject): Partial<ApiErrorFields> {
  return {
    ...(typeof message === "string" && { message }),
    ...(typeof type === "string" && { type }),
    ...((typeof code === "string" || typeof code === "number") && { code }),
    ...(typeof param === "string" && { param }),
    ...(typeof retryAfter === "number" && { retryAfter }),
  };
}

function reset(double: Controlled, _: RawRequest, scope: Scope): Outcome {
  double.reset(scope);
  return jsonOutcome(200, { reset: true });
}
