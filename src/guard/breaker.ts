import type { FrameEvent } from "../chat/frames.ts";
import { costOf, KNOWN_PRICES, type Price, type PriceList, priceOf } from "../chat/prices.ts";
import type { ChatRequest } from "../chat/request.ts";
import { estimatePromptTokens, estimateTokens } from "../chat/tokens.ts";
import type { Call } from "../dialects/operation.ts";
import { Traverser } from "../dialects/traverser.ts";
import { GuardError } from "./guardrails.ts";
import { leavesOf, mayGrow } from "./json-leaves.ts";
import { RepeatedText, type RepeatedTextLimit } from "./repeated-text.ts";

/** What may be used up: each is a number that must not be exceeded. */
export interface UsageLimits {
  /** As the provider counts them, once it has said so; until then characters divided by four. */
  outputTokens?: number;
  /** Of texts, reasoning and arguments of tools. */
  outputCharacters?: number;
  /** From a request until the end of its reply. */
  seconds?: number;
  toolCalls?: number;
  /** In the price list's currency, with the prompt. Models that the list does not know cost nothing. */
  cost?: number;
}

export interface CallLimits extends UsageLimits {
  /** Between two pieces of a reply, and before the first. */
  idleSeconds?: number;
  repeatedText?: RepeatedTextLimit;
}

/** Limits at which a reply is cut. */
export interface BreakerOptions {
  /** Of each call. */
  call?: CallLimits;
  /** Of all calls of a scenario together: `X-VCR-Scenario`, `/@name/`, or a test id. */
  scenario?: UsageLimits;
  /** Of all calls of a double together. */
  run?: UsageLimits;
  /** In the place of the list that comes with the product. */
  prices?: PriceList;
}

export type Usage = Required<UsageLimits>;
export type LimitName = keyof CallLimits;
type Scope = "call" | "scenario" | "run";

/** A limit that was reached. */
export interface Breach {
  scope: Scope;
  limit: LimitName;
  most: number;
}

export const USAGE_LIMITS = ["outputTokens", "outputCharacters", "seconds", "toolCalls", "cost"] as const;
export const CALL_LIMITS: readonly LimitName[] = [...USAGE_LIMITS, "idleSeconds", "repeatedText"];

const UNITS: Readonly<Record<LimitName, string>> = {
  outputTokens: "output tokens",
  outputCharacters: "output characters",
  seconds: "seconds",
  toolCalls: "tool calls",
  cost: "of the price list's currency",
  idleSeconds: "seconds without anything new",
  repeatedText: "times the same text in a row",
};

/** The words in which a reply is cut. */
export function breachMessage({ scope, limit, most }: Breach): string {
  return `StreamBreaker: more than ${most} ${UNITS[limit]}, the limit of the ${scope} (${limit}).`;
}

export function noUsage(): Usage {
  return { outputTokens: 0, outputCharacters: 0, seconds: 0, toolCalls: 0, cost: 0 };
}

const MOST_SCENARIOS = 1000;

/** Limits, and what has been used up of them. */
export class StreamBreaker {
  readonly #options: BreakerOptions;
  #run = noUsage();
  readonly #scenarios = new Map<string, Usage>();

  /** @throws {GuardError} for a limit that is none */
  constructor(options: BreakerOptions) {
    for (const scope of ["call", "scenario", "run"] as const) checkLimits(scope, options[scope]);
    this.#options = options;
  }

  /** What has been used up so far, and of which limits. */
  get state(): { run: Usage; scenarios: Record<string, Usage> } {
    return { run: { ...this.#run }, scenarios: Object.fromEntries(this.#scenarios) };
  }

  /** Whether calls are counted together. */
  get counts(): boolean {
    return this.#options.scenario !== undefined || this.#options.run !== undefined;
  }

  /** Whether time plays a part. */
  get isTimed(): boolean {
    const { call, scenario, run } = this.#options;
    return [call?.seconds, call?.idleSeconds, scenario?.seconds, run?.seconds].some((limit) => limit !== undefined);
  }

  /** Whether what a call asks plays a part. */
  get isByPrompt(): boolean {
    const { call, scenario, run } = this.#options;
    return [call, scenario, run].some((limits) => limits?.cost !== undefined);
  }

  /** Everything is as if nothing had been used. @param scenario whose use is forgotten; without one, all */
  reset(scenario?: string): void {
    if (scenario !== undefined) this.#scenarios.delete(scenario);
    else {
      this.#run = noUsage();
      this.#scenarios.clear();
    }
  }

  /** The limit that is used up already, so that nothing more may be asked for. */
  exhausted(scenario: string): Breach | undefined {
    return this.#breach(scenario, noUsage(), (used, most) => used >= most);
  }

  /** The limit that a call would go past, if it used so much in all, of which some has been counted before. */
  breach(scenario: string, used: Usage, more: Usage): Breach | undefined {
    const call = breachOf("call", used, this.#options.call, exceeds);
    return call ?? this.#breach(scenario, more, exceeds);
  }

  add(scenario: string, more: Usage): void {
    const { scenario: limits } = this.#options;
    if (limits !== undefined) {
      const used = this.#scenarios.get(scenario) ?? noUsage();
      this.#scenarios.delete(scenario);
      this.#scenarios.set(scenario, used);
      for (const name of USAGE_LIMITS) used[name] += more[name];
      if (this.#scenarios.size > MOST_SCENARIOS) this.#scenarios.delete(this.#scenarios.keys().next().value!);
    }
    for (const name of USAGE_LIMITS) this.#run[name] += more[name];
  }

  /** Counts one call. */
  meter(call: Call, provider: string, scenario: string): CallMeter {
    const { prices = KNOWN_PRICES, call: limits = {} } = this.#options;
    return new CallMeter(this, limits, call, scenario, priceOf(call.view.model, provider, prices));
  }

  /** Seconds that are left of those limits that are not the call's own. */
  secondsLeft(scenario: string): { scope: Scope; most: number; left: number } | undefined {
    const { scenario: inScenario, run } = this.#options;
    const lefts = [
      { scope: "scenario" as const, most: inScenario?.seconds, used: this.#scenarios.get(scenario)?.seconds ?? 0 },
      { scope: "run" as const, most: run?.seconds, used: this.#run.seconds },
    ].flatMap(({ scope, most, used }) => (most === undefined ? [] : [{ scope, most, left: most - used }]));
    return lefts.sort((a, b) => a.left - b.left)[0];
  }

  #breach(scenario: string, more: Usage, over: (used: number, most: number) => boolean): Breach | undefined {
    const { scenario: inScenario, run } = this.#options;
    const used = inScenario && this.#scenarios.get(scenario);
    return breachOf("scenario", more, inScenario, over, used) ?? breachOf("run", more, run, over, this.#run);
  }
}

function exceeds(used: number, most: number): boolean {
  return used > most;
}

/** @param before what has been used up already */
function breachOf(
  scope: Scope,
  more: Usage,
  limits: UsageLimits | undefined,
  over: (used: number, most: number) => boolean,
  before?: Usage,
): Breach | undefined {
  if (limits === undefined) return undefined;
  for (const limit of USAGE_LIMITS) {
    const most = limits[limit];
    if (most !== undefined && over(more[limit] + (before?.[limit] ?? 0), most)) return { scope, limit, most };
  }
  return undefined;
}

/** What one call uses up, message by message. */
export class CallMeter {
  /** In all, and how much of it the breaker has been told. */
  readonly used = noUsage();
  readonly #told = noUsage();
  readonly #breaker: StreamBreaker;
  readonly #limits: CallLimits;
  readonly #scenario: string;
  readonly #price: Price | undefined;
  readonly #traverser: Traverser | undefined;
  readonly #repeated = new Map<string, RepeatedText>();
  readonly #promptTokens: number;
  #reported: { promptTokens?: number; completionTokens?: number } = {};
  #lastMs = 0;

  constructor(breaker: StreamBreaker, limits: CallLimits, call: Call, scenario: string, price: Price | undefined) {
    this.#breaker = breaker;
    this.#limits = limits;
    this.#scenario = scenario;
    this.#price = price;
    const { rules, output, dialect } = call.operation;
    this.#traverser = rules !== undefined && output === "chat" ? new Traverser(rules, dialect) : undefined;
    const request = call.view.request as Partial<ChatRequest> | null | undefined;
    const isChat = output === "chat" && Array.isArray(request?.messages);
    this.#promptTokens = isChat ? estimatePromptTokens(request as ChatRequest) : 0;
  }

  /** Counts what a message says. @returns the limit that it goes past, so that it must not leave */
  push(text: string, atMs: number): Breach | undefined {
    const repeated = this.#read(text, atMs);
    this.#lastMs = atMs;
    return repeated ?? this.#check(atMs);
  }

  /** The moment at which the call is cut if nothing comes, since the request; never for none. */
  get dueMs(): number {
    const { idleSeconds } = this.#limits;
    return Math.min(
      this.#end.atMs,
      idleSeconds === undefined ? Number.POSITIVE_INFINITY : this.#lastMs + idleSeconds * 1000,
    );
  }

  /** The limit that is reached at `dueMs`. */
  get timeLimit(): Breach {
    const { idleSeconds } = this.#limits;
    const { atMs, scope, most } = this.#end;
    return idleSeconds !== undefined && this.#lastMs + idleSeconds * 1000 < atMs
      ? { scope: "call", limit: "idleSeconds", most: idleSeconds }
      : { scope, limit: "seconds", most };
  }

  /** The reply is over, one way or another. */
  end(atMs: number): void {
    this.used.seconds = atMs / 1000;
    this.#tell();
  }

  get #end(): { atMs: number; scope: Scope; most: number } {
    const { seconds = Number.POSITIVE_INFINITY } = this.#limits;
    const left = this.#breaker.secondsLeft(this.#scenario);
    const leftInAll = (left?.left ?? Number.POSITIVE_INFINITY) + this.#told.seconds;
    return leftInAll < seconds
      ? { atMs: leftInAll * 1000, scope: left!.scope, most: left!.most }
      : { atMs: seconds * 1000, scope: "call", most: seconds };
  }

  #read(text: string, atMs: number): Breach | undefined {
    const { repeatedText } = this.#limits;
    let breach: Breach | undefined;
    const say = (key: string, piece: string): void => {
      this.used.outputCharacters += piece.length;
      if (repeatedText === undefined) return;
      let repeated = this.#repeated.get(key);
      if (repeated === undefined) {
        repeated = new RepeatedText(repeatedText);
        this.#repeated.set(key, repeated);
      }
      if (repeated.push(piece)) breach ??= { scope: "call", limit: "repeatedText", most: repeatedText.times };
    };
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return undefined;
    }
    if (this.#traverser === undefined) {
      for (const leaf of leavesOf(text))
        if (leaf.kind === "string" && mayGrow(leaf)) say(String(leaf.step), text.slice(leaf.start, leaf.end));
      return breach;
    }
    this.#traverser.push(value, atMs);
    for (const { choice, part, event } of this.#traverser.frames.splice(0))
      this.#count(event, (piece) => say(`${choice} ${part}`, piece));
    return breach;
  }

  #count(event: FrameEvent, say: (piece: string) => void): void {
    switch (event.type) {
      case "start": {
        const { part } = event;
        if (part.type === "toolCall") {
          this.used.toolCalls++;
          this.used.outputCharacters += part.name.length;
          if (part.arguments !== "") say(part.arguments);
        } else if ("text" in part && part.text !== "") say(part.text);
        break;
      }
      case "delta":
        say(event.value);
        break;
      case "usage":
        this.#reported = { ...this.#reported, ...event.usage };
        break;
      default:
    }
  }

  #check(atMs: number): Breach | undefined {
    const { used } = this;
    const { promptTokens = this.#promptTokens, completionTokens = 0 } = this.#reported;
    const estimated = used.outputCharacters === 0 ? 0 : estimateTokens(used.outputCharacters);
    used.outputTokens = Math.max(estimated, completionTokens);
    used.seconds = atMs / 1000;
    if (this.#price !== undefined)
      used.cost = costOf({ promptTokens, completionTokens: used.outputTokens }, this.#price);
    const breach = this.#breaker.breach(this.#scenario, used, this.#more);
    if (breach === undefined) this.#tell();
    return breach;
  }

  get #more(): Usage {
    return Object.fromEntries(
      USAGE_LIMITS.map((name) => [name, this.used[name] - this.#told[name]]),
    ) as unknown as Usage;
  }

  #tell(): void {
    this.#breaker.add(this.#scenario, this.#more);
    Object.assign(this.#told, this.used);
  }
}

function checkLimits(scope: Scope, limits: CallLimits | undefined): void {
  for (const [name, value] of Object.entries(limits ?? {})) {
    const known: readonly string[] = scope === "call" ? CALL_LIMITS : USAGE_LIMITS;
    if (!known.includes(name))
      throw new GuardError(`breaker.${scope}: there is no limit "${name}"; there are ${known.join(", ")}.`);
    const number = name === "repeatedText" ? (value as RepeatedTextLimit).times : value;
    if (!(typeof number === "number" && number >= (name === "repeatedText" ? 1 : 0)))
      throw new GuardError(
        `breaker.${scope}.${name} has to be a number that is not negative, but it is ${JSON.stringify(value)}.`,
      );
  }
}
