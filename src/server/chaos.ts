import type { Answer } from "../dialects/answer.ts";
import { ApiError, badRequest } from "../dialects/api-error.ts";
import type { Call, ChaosAction } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import type { Chaos, Fixture } from "../fixtures/types.ts";
import type { Clock } from "../state/clock.ts";
import { LocalMemory } from "../state/memory.ts";
import type { Stamps } from "../state/stamps.ts";

/** The headers that set each field for one request; the first that is there counts. */
const HEADERS: Record<keyof Chaos, readonly string[]> = {
  dropRate: ["x-stuntdouble-chaos-drop", "x-aimock-chaos-drop"],
  malformedRate: ["x-stuntdouble-chaos-malformed", "x-aimock-chaos-malformed"],
  rateLimitRate: ["x-stuntdouble-chaos-rate-limit", "x-aimock-chaos-ratelimit"],
  disconnectRate: ["x-stuntdouble-chaos-disconnect", "x-aimock-chaos-disconnect"],
  latencyMs: ["x-stuntdouble-chaos-latency", "x-aimock-chaos-latency"],
};

const FIELDS = Object.keys(HEADERS) as (keyof Chaos)[];
/** What has to be known of a call to strike it. */
export type StruckCall = Pick<Call, "raw" | "testId" | "chaosAction">;

type Headers = RawRequest["headers"];

/**
 * Faults by chance. A header's value wins over the fixture's, and that over the server's, each field by itself; what
 * was set for a test id stands in the place of what was set for all.
 */
export class ChaosControl {
  readonly #stamps: Stamps;
  readonly #clock: Clock;
  #server: Chaos | undefined;
  readonly #byTestId: LocalMemory<Chaos>;

  /** @param maxTestIds test ids whose chaos is kept; the one that was used longest ago gets the server's again */
  constructor(stamps: Stamps, clock: Clock, server: Chaos | undefined, maxTestIds?: number) {
    this.#stamps = stamps;
    this.#clock = clock;
    this.#byTestId = new LocalMemory(maxTestIds);
    if (server !== undefined) this.set(server);
  }

  /**
   * @param testId whose calls it befalls; all others keep theirs. Without one, all that have none of their own
   * @throws {RangeError} when a rate is not from 0 to 1, or a field is not known
   */
  set(chaos: Chaos, testId?: string): void {
    const fault = chaosFault(chaos);
    if (fault !== undefined) throw new RangeError(fault);
    if (testId === undefined) this.#server = { ...chaos };
    else this.#byTestId.set(testId, { ...chaos });
  }

  /** @param testId gets the server's again; without one the server's own is over */
  clear(testId?: string): void {
    if (testId === undefined) this.#server = undefined;
    else this.#byTestId.delete(testId);
  }

  /** Nobody has any. */
  clearAll(): void {
    this.#server = undefined;
    this.#byTestId.clear();
  }

  /** What the server's level is for a test id. */
  get(testId?: string): Chaos {
    const own = testId === undefined || this.#byTestId.size === 0 ? undefined : this.#byTestId.get(testId);
    return own ?? this.#server ?? NONE;
  }

  /**
   * What a call gets in the end: the answer of its tape, or what chance puts in its place. Undefined leaves it to
   * the provider.
   * @throws {ApiError} 400 when a header is no number
   */
  strike(call: StruckCall, given: Answer | undefined): Answer | undefined | Promise<Answer | undefined> {
    const { headers } = call.raw;
    const named = hasChaosHeader(headers);
    const own = given?.source.kind === "fixture" ? (given.source.tape as Fixture).chaos : undefined;
    if (!named && own === undefined && this.#server === undefined && this.#byTestId.size === 0) return given;
    const chaos: Chaos = { ...this.get(call.testId), ...own, ...(named && chaosOfHeaders(headers)) };
    const action = this.#roll(chaos, call, given);
    const { latencyMs = 0 } = chaos;
    if (action !== undefined) call.chaosAction = action;
    else if (latencyMs > 0) call.chaosAction = "latency";
    const struck = action === undefined ? given : answerOf(action, given);
    if (latencyMs <= 0) return struck;
    return new Promise((resolve) => {
      this.#clock.at(this.#clock.now() + latencyMs, () => resolve(struck));
    });
  }

  /** One draw a rate, in this order; the first that hits is the one. */
  #roll(chaos: Chaos, call: StruckCall, given: Answer | undefined): Exclude<ChaosAction, "latency"> | undefined {
    const { dropRate = 0, malformedRate = 0, rateLimitRate = 0, disconnectRate = 0 } = chaos;
    if (dropRate + malformedRate + rateLimitRate + disconnectRate === 0) return undefined;
    const tape = given === undefined ? "none" : (given.source.id ?? given.source.kind);
    const { random } = this.#stamps.next(call.testId, `chaos ${tape}`);
    if (random() < dropRate) return "drop";
    if (random() < malformedRate) return "malformed";
    if (random() < rateLimitRate) return "rateLimit";
    if (random() < disconnectRate) return "disconnect";
    return undefined;
  }
}

const NONE: Chaos = {};

function answerOf(action: Exclude<ChaosAction, "latency">, given: Answer | undefined): Answer {
  const source = given?.source ?? { kind: "chaos" };
  switch (action) {
    case "drop":
      return { kind: "error", error: DROPPED, source };
    case "rateLimit":
      return { kind: "error", error: LIMITED, source };
    case "malformed":
      return { kind: "malformed", ...(given?.kind === "output" && { out: given.out }), source };
    case "disconnect":
      return { kind: "disconnect", source };
  }
}

const DROPPED = new ApiError({
  status: 500,
  message: "Chaos: request dropped",
  type: "server_error",
  code: "chaos_drop",
});
const LIMITED = new ApiError({
  status: 429,
  message: "Chaos: rate limit exceeded",
  type: "rate_limit_error",
  code: "chaos_ratelimit",
});

/** What is wrong with rates that somebody wrote; undefined when nothing is. */
export function chaosFault(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return `Chaos is an object with ${FIELDS.join(", ")}.`;
  }
  for (const [name, member] of Object.entries(value)) {
    if (!FIELDS.includes(name as keyof Chaos))
      return `There is no chaos field ${name}; there are ${FIELDS.join(", ")}.`;
    if (member === undefined) continue;
    const most = mostOf(name as keyof Chaos);
    if (!(typeof member === "number" && member >= 0 && member <= most)) {
      return `${name} has to be a number from 0 to ${most}, but it is ${JSON.stringify(member)}.`;
    }
  }
  return undefined;
}

function mostOf(field: keyof Chaos): number {
  return field === "latencyMs" ? MOST_LATENCY_MS : 1;
}

const MOST_LATENCY_MS = 3_600_000;

/** Asked for every call, so each name is spelled out: engines look constant names up much faster. */
function hasChaosHeader(headers: Headers): boolean {
  return (
    headers["x-stuntdouble-chaos-drop"] !== undefined ||
    headers["x-aimock-chaos-drop"] !== undefined ||
    headers["x-stuntdouble-chaos-malformed"] !== undefined ||
    headers["x-aimock-chaos-malformed"] !== undefined ||
    headers["x-stuntdouble-chaos-rate-limit"] !== undefined ||
    headers["x-aimock-chaos-ratelimit"] !== undefined ||
    headers["x-stuntdouble-chaos-disconnect"] !== undefined ||
    headers["x-aimock-chaos-disconnect"] !== undefined ||
    headers["x-stuntdouble-chaos-latency"] !== undefined ||
    headers["x-aimock-chaos-latency"] !== undefined
  );
}

/** @throws {ApiError} */
function chaosOfHeaders(headers: Headers): Chaos {
  const chaos: Chaos = {};
  for (const field of FIELDS) {
    const name = HEADERS[field].find((candidate) => headers[candidate] !== undefined);
    if (name === undefined) continue;
    const text = String(headers[name]).trim();
    const value = text === "" ? Number.NaN : Number(text);
    if (!(value >= 0 && value <= mostOf(field))) {
      throw badRequest(`The header ${name} has to be a number from 0 to ${mostOf(field)}, but it is "${text}".`);
    }
    chaos[field] = value;
  }
  return chaos;
}
