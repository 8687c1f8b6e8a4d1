import { DEFAULT_SCENARIO, scenarioOf } from "../cassettes/identity.ts";
import type { Answer } from "../dialects/answer.ts";
import { testIdOf } from "../dialects/call.ts";
import { framingOf, onWire, streamErrorText } from "../dialects/encode.ts";
import type { Call, Operation } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import { StreamBreaker, type Usage } from "../guard/breaker.ts";
import { blocked, broken, type GateCut, ResponseGate } from "../guard/gate.ts";
import { blockMessage, type GuardHit, Guardrails, Screens } from "../guard/guardrails.ts";
import { inspect } from "../guard/inspect.ts";
import type { GuardOptions } from "../guard/options.ts";
import type { ReplyGuard } from "../upstream/guarded-reply.ts";
import { Counts, type GuardCounts } from "./guard-counts.ts";
import { type GatedBody, gatedBody } from "./guarded-body.ts";
import type { Outcome } from "./outcome.ts";

/** What is known of a request in which something was found. */
interface Note {
  hits: GuardHit[];
  /** The request without what was found, for whoever shows it to somebody. */
  shown: RawRequest;
}

/** What becomes of a request. */
export interface Screening {
  /** What goes on. */
  raw: RawRequest;
  /** Why it does not. */
  cut: GateCut | undefined;
}

export interface GuardHost {
  /** Whose API a request is for. */
  provider(raw: RawRequest, operation: Operation | undefined): string;
  /** Of calls that name none. */
  scenario: string | undefined;
}

const EMPTY = new Uint8Array(0);
const NO_USAGE = undefined;

/** Guardrails and limits of a double: what they say of requests and of replies, and how often. */
export class Guards {
  readonly #guardrails: Guardrails;
  readonly #breaker: StreamBreaker | undefined;
  readonly #host: GuardHost;
  readonly #notes = new WeakMap<RawRequest, Note>();
  /** Requests of which something may come back that a rule finds. */
  readonly #suspicious = new WeakSet<RawRequest>();
  readonly #prescans = new Map<string, Screens>();
  /** What answers use up in which nothing was found, by the answer and by the form in which it was sent. */
  readonly #clean = new WeakMap<object, Map<string, Usage | typeof NO_USAGE>>();
  readonly #counts = new Counts();

  /** @throws {GuardError | RedactionOptionsError} with what is wrong with the options */
  static async load({ rules = [], breaker }: GuardOptions, host: GuardHost): Promise<Guards> {
    return new Guards(await Guardrails.load(rules), breaker && new StreamBreaker(breaker), host);
  }

  private constructor(guardrails: Guardrails, breaker: StreamBreaker | undefined, host: GuardHost) {
    this.#guardrails = guardrails;
    this.#breaker = breaker;
    this.#host = host;
  }

  /** What is to be taken out of all that is written. */
  get secrets(): Guardrails["secrets"] {
    return this.#guardrails.secrets;
  }

  get counts(): GuardCounts {
    return this.#counts.read(this.#breaker?.state);
  }

  /** @param scenario whose use of limits is forgotten; without one, all */
  reset(scenario?: string): void {
    this.#breaker?.reset(scenario);
  }

  /** Looks at a request before anybody else does. Undefined where nothing is to be done about it. */
  request(raw: RawRequest, operation: Operation | undefined): Screening | undefined {
    const breach = this.#breaker?.counts ? this.#breaker.exhausted(this.#scenarioOf(raw)) : undefined;
    const { byteLength } = raw.body;
    if (breach === undefined && byteLength === 0) return undefined;
    const provider = this.#guardrails.isByProvider ? this.#host.provider(raw, operation) : "";
    const clean = this.#isClean(raw, provider);
    if (clean && breach === undefined) return undefined;
    if (!clean) this.#suspicious.add(raw);
    const screens = this.#guardrails.of("request", provider);
    const inspection =
      clean || screens === undefined ? undefined : inspect(raw.body, readableType(raw), screens, "request");
    if (inspection === undefined || inspection.hits.length === 0) {
      return breach === undefined ? undefined : { raw, cut: this.#cut(broken(breach)) };
    }
    const { hits, block, body, masked } = inspection;
    const shown = raw.withBody(masked ?? EMPTY);
    const onward = block === undefined && body !== raw.body ? raw.withBody(body) : raw;
    this.#suspicious.add(onward);
    this.#notes.set(onward, { hits, shown });
    this.#counts.hits(hits);
    const cut = block !== undefined ? blocked(blockMessage(block)) : breach && broken(breach);
    return { raw: onward, cut: cut && this.#cut(cut) };
  }

  /** The request as it may be shown. */
  shown(raw: RawRequest): RawRequest {
    return this.#notes.get(raw)?.shown ?? raw;
  }

  hitsOf(raw: RawRequest): readonly GuardHit[] | undefined {
    return this.#notes.get(raw)?.hits;
  }

  /** A text about a request, as it may be shown. */
  mask(raw: RawRequest, text: string): string {
    if (!this.#notes.has(raw)) return text;
    const screens = this.#guardrails.of("request", this.#host.provider(raw, undefined));
    return (screens?.all ?? []).reduce((masked, { redactor }) => redactor.call().text(masked, "message"), text);
  }

  /** Looks at an answer that is there already. Undefined where it leaves as it is. */
  outcome(call: Call, answer: Answer, outcome: Outcome, requestId: string): GatedBody | undefined {
    const { raw, operation } = call;
    if (answer.kind === "live" || answer.source.kind === "guard" || outcome.status === 0) return undefined;
    const byProvider = this.#guardrails.isByProvider || this.#breaker?.isByPrompt;
    const provider = byProvider ? this.#host.provider(raw, operation) : "";
    const screens = this.#guardrails.of("response", provider);
    const breaker = outcome.status < 400 ? this.#breaker : undefined;
    if (screens === undefined && breaker === undefined) return undefined;
    const scenario = this.#scenarioOf(raw);
    const key = this.#keyOf(call, answer, outcome, breaker);
    if (key !== undefined && this.#isKnown(key, scenario, breaker)) return undefined;
    const meter = breaker?.meter(call, provider, scenario);
    const gate = new ResponseGate({ screens, meter, contentType: contentTypeOf(outcome), streamed: call.streamed });
    const gated = gatedBody(outcome, gate, (cut, sent) => cutEvent(call, cut, requestId, sent));
    this.#note(raw, gated.hits, gated.cut);
    if (key !== undefined && gated.hits.length === 0 && gated.cut === undefined) {
      const forms = this.#clean.get(key.of) ?? new Map<string, Usage | undefined>();
      this.#clean.set(key.of, forms.set(key.form, meter?.used));
    }
    return gated.isChanged ? gated : undefined;
  }

  /** What a reply goes through that is still on its way. */
  reply(call: Call, provider: string): ReplyGuard | undefined {
    const screens = this.#guardrails.of("response", provider);
    if (screens === undefined && this.#breaker === undefined) return undefined;
    const meter = this.#breaker?.meter(call, provider, this.#scenarioOf(call.raw));
    return {
      open: (status, contentType) =>
        new ResponseGate({
          screens,
          meter: status < 400 ? meter : undefined,
          contentType,
          streamed: call.streamed,
        }),
      get dueMs() {
        return meter?.dueMs ?? Number.POSITIVE_INFINITY;
      },
      expire: () => broken(meter!.timeLimit),
      told: (hits, cut) => this.#note(call.raw, hits, cut),
      event: (cut, sent) => cutEvent(call, cut, undefined, sent),
    };
  }

  #note(raw: RawRequest, hits: readonly GuardHit[], cut: GateCut | undefined): void {
    if (cut !== undefined) this.#cut(cut);
    if (hits.length === 0) return;
    this.#counts.hits(hits);
    const note = this.#notes.get(raw);
    if (note === undefined) this.#notes.set(raw, { hits: [...hits], shown: raw });
    else note.hits.push(...hits);
  }

  #cut(cut: GateCut): GateCut {
    this.#counts.cut(cut.by);
    return cut;
  }

  #scenarioOf(raw: RawRequest): string {
    return scenarioOf(raw, testIdOf(raw)) ?? this.#host.scenario ?? DEFAULT_SCENARIO;
  }

  /** By one look for all that is looked for in either direction: what answers repeat of a clean request is clean. */
  #isClean(raw: RawRequest, provider: string): boolean {
    let prescan = this.#prescans.get(provider);
    if (prescan === undefined) {
      const both = (["request", "response"] as const).flatMap(
        (direction) => this.#guardrails.of(direction, provider)?.all ?? [],
      );
      prescan = new Screens(both);
      this.#prescans.set(provider, prescan);
    }
    if (prescan.detectors.length === 0 && prescan.all.length === 0) return true;
    if (!prescan.isClean(raw.text)) return false;
    for (const name in raw.params) if (!prescan.isClean(raw.params[name] ?? "")) return false;
    return true;
  }

  /** Names an answer that says the same each time, but for what it repeats of the request. */
  #keyOf(
    call: Call,
    answer: Answer,
    outcome: Outcome,
    breaker: StreamBreaker | undefined,
  ): { of: object; form: string } | undefined {
    const { operation, raw, request, streamed } = call;
    if (this.#suspicious.has(raw) || breaker?.isByPrompt) return undefined;
    if (breaker?.isTimed && typeof outcome.body === "object" && "chunks" in outcome.body && outcome.body.due)
      return undefined;
    if (answer.kind === "wire") return { of: answer.reply, form: "" };
    if (answer.kind !== "output" || answer.streamError !== undefined || typeof answer.out !== "object")
      return undefined;
    if (answer.out === null) return undefined;
    const variant = operation.variant(request);
    let form = streamed ? `${operation.name} streamed` : operation.name;
    for (const name in variant) form += ` ${variant[name]}`;
    return { of: answer.out, form };
  }

  /** Whether an answer has been through before, and goes past no limit this time either. */
  #isKnown(key: { of: object; form: string }, scenario: string, breaker: StreamBreaker | undefined): boolean {
    const forms = this.#clean.get(key.of);
    if (forms === undefined || !forms.has(key.form)) return false;
    const used = forms.get(key.form);
    if (used === undefined || breaker === undefined) return breaker === undefined;
    if (!breaker.counts) return true;
    if (breaker.breach(scenario, used, used) !== undefined) return false;
    breaker.add(scenario, used);
    return true;
  }
}

/** A header may say anything; what operations read is the body. */
function readableType(raw: RawRequest): string | undefined {
  if (/^\s*[[{]/.test(raw.text)) return "application/json";
  const type = raw.header("content-type") ?? "";
  return /multipart\/.*boundary=|x-www-form-urlencoded/i.test(type) ? type : undefined;
}

function contentTypeOf({ headers }: Outcome): string | undefined {
  for (let index = 0; index < headers.length; index += 2)
    if (headers[index]!.toLowerCase() === "content-type") return headers[index + 1];
  return undefined;
}

/** The event that tells a client of a cut; undefined where its provider has none. */
function cutEvent(call: Call, cut: GateCut, requestId: string | undefined, sent: number): Uint8Array | undefined {
  if (!call.streamed) return undefined;
  const text = streamErrorText(call, cut.error, requestId, sent);
  if (text === undefined) return undefined;
  const wire = onWire(text, framingOf(call.operation, call.request));
  return typeof wire === "string" ? Buffer.from(wire) : wire;
}
