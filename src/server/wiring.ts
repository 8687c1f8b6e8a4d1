import { withoutMetadata } from "../cassettes/call-metadata.ts";
import type { Timing } from "../chat/timing.ts";
import { ApiError } from "../dialects/api-error.ts";
import type { Call } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import { type FixtureAnswererOptions, fixtureAnswerer } from "../fixtures/answerer.ts";
import { LiveFixtures } from "../fixtures/live-fixtures.ts";
import { FixturePool, type FixtureStore } from "../fixtures/pool.ts";
import type { GateCut } from "../guard/gate.ts";
import { InboundKeys } from "../guard/inbound-keys.ts";
import { dialects } from "../services/registry.ts";
import { type Clock, SystemClock } from "../state/clock.ts";
import { DEFAULT_MAX_TEST_IDS, MemoryCounters } from "../state/counters.ts";
import { Journal, type JournalResponse } from "../state/journal.ts";
import { LocalMemory } from "../state/memory.ts";
import { FreshStamps, SeededStamps, type Stamps } from "../state/stamps.ts";
import { Tally } from "../state/tally.ts";
import { CassetteLink } from "./cassette-link.ts";
import type { CassetteOptions } from "./cassette-options.ts";
import type { Cassettes } from "./cassettes.ts";
import { ChaosControl } from "./chaos.ts";
import { Engine, type Explained } from "./engine.ts";
import type { Explainer } from "./explain.ts";
import { GuardLink } from "./guard-link.ts";
import { Listener } from "./listener.ts";
import type { Metrics } from "./metrics.ts";
import { Mounts } from "./mounts.ts";
import { OneShotErrors } from "./one-shot.ts";
import type { StuntDoubleOptions } from "./options.ts";
import type { Outcome } from "./outcome.ts";
import { OwnFixtures } from "./own-fixtures.ts";
import { openPaths } from "./own-paths.ts";
import { Recording } from "./recording.ts";
import { Router } from "./router.ts";
import type { WebSocketHost } from "./web-socket-pass.ts";

/** The parts of a double, made from its options and joined: what `StuntDouble` shows to the outside is done here. */
export class Wiring {
  readonly #options: StuntDoubleOptions;
  readonly clock: Clock;
  readonly pool: FixtureStore;
  readonly counters: MemoryCounters;
  readonly journal: Journal;
  readonly stamps: Stamps;
  readonly memory = new LocalMemory();
  readonly errors: OneShotErrors;
  readonly chaos: ChaosControl;
  readonly ownFixtures: OwnFixtures;
  readonly tally = new Tally();
  readonly mounts: Mounts;
  readonly recording: Recording;
  readonly guards: GuardLink;
  readonly cassettes: CassetteLink | undefined;
  readonly #router = new Router(dialects);
  readonly #engine: Engine;
  #metrics: Metrics | undefined;
  #explainer: Explainer | Promise<Explainer> | undefined;
  /** Health then says that no more calls are wanted. */
  stopping = false;

  /** @param control what answers on the paths that change a running double */
  constructor(options: StuntDoubleOptions, control: (raw: RawRequest) => Outcome | Promise<Outcome> | undefined) {
    this.#options = options;
    this.clock = options.clock ?? new SystemClock();
    const { liveFixtures, fixtures: given = [] } = options;
    this.pool = liveFixtures === undefined ? new FixturePool(given) : new LiveFixtures(liveFixtures);
    const maxTestIds = options.fixtureCountsMaxTestIds ?? DEFAULT_MAX_TEST_IDS;
    this.counters = new MemoryCounters(maxTestIds);
    this.errors = new OneShotErrors(maxTestIds);
    this.journal = new Journal(options.journalMaxEntries ?? 1000, () => this.recording.loadedRedactor);
    this.stamps = options.seed === undefined ? new FreshStamps(this.clock) : new SeededStamps(options.seed);
    this.recording = new Recording({
      clock: this.clock,
      counters: this.counters,
      redact: options.redact,
      repeat: options.repeat,
      add: (fixture) => this.pool.addAll([fixture]),
      recorded: (group) => this.pool.recorded(group),
      warn: (message) => this.warn(message),
      tapes: () => this.cassettes?.current?.tapes,
      passes: (call) => this.cassettes?.current?.passes(call) ?? true,
      guard: (call, provider) => this.guards.current?.reply(call, provider),
      secrets: async () => (await this.guards.open())?.secrets,
    });
    this.guards = new GuardLink(options.guard, {
      provider: (raw, operation) => this.recording.provider(raw, operation),
      scenario: options.cassettes?.scenario,
    });
    if (options.record !== undefined) this.recording.enable(options.record);
    this.cassettes = options.cassettes && this.#linkCassettes(options.cassettes);
    this.chaos = new ChaosControl(this.stamps, this.clock, options.chaos, maxTestIds);
    this.ownFixtures = new OwnFixtures(this.counters, this.#fixtureOptions(), maxTestIds);
    const fixtures = fixtureAnswerer(this.pool, this.counters, this.#fixtureOptions());
    const recorded = this.cassettes === undefined ? [] : [this.cassettes.answer];
    this.#engine = new Engine({
      router: this.#router,
      explain: (call) => this.#explainMiss(call),
      answerers: [this.errors.answer, this.ownFixtures.answer, fixtures, ...recorded],
      httpAnswerers: [this.ownFixtures.answer, fixtures, ...recorded],
      upstream: this.recording.answer,
      journal: this.journal,
      stamps: this.stamps,
      memory: this.memory,
      clock: this.clock,
      chaos: this.chaos,
      guards: this.guards,
      refused: (call, cut) => this.#recordRefusal(call, cut),
      strict: options.strict ?? false,
      passesWebSockets: () => this.recording.mode !== "off" && this.cassettes?.answers !== true,
      rateLimitHeaders: options.rateLimitHeaders ?? false,
      ...(options.auth && { keys: new InboundKeys(options.auth.apiKeys) }),
      open: (raw) => openPaths(raw, this.stopping, this.#metrics),
      control,
      onCall: (raw, response, tape) => this.#tell(raw, response, tape),
      plainMisses: options.plainMisses ?? false,
    });
    this.mounts = new Mounts((raw) => this.#engine.refusal(raw), this.clock);
  }

  /** From a request to its outcome. */
  handle(given: RawRequest): Outcome | Promise<Outcome> {
    const raw = this.cassettes === undefined ? given : withoutMetadata(given);
    const metrics = this.#metrics;
    return metrics === undefined ? this.#engine.handle(raw) : metrics.timed(raw, this.#engine);
  }

  /** A call that never left is part of its scenario all the same. */
  #recordRefusal(call: Call, { type, message }: GateCut): void {
    if (this.cassettes === undefined) return;
    const record = (open: Cassettes): void => {
      if (open.answer(call) !== undefined || !open.passes(call)) return;
      const provider = this.recording.provider(call.raw, call.operation);
      open.tapes?.failed(call, provider, { type, message, sentAtMs: this.clock.wall(), totalMs: 0 });
    };
    const open = this.cassettes.open();
    if (open instanceof Promise) open.then(record, (error: Error) => this.warn(error.message));
    else record(open);
  }

  #tell(raw: RawRequest, response: JournalResponse, tape: unknown): void {
    const { onCall } = this.#options;
    const path = onCall === undefined && response.source !== "miss" ? "" : this.#shownPath(raw);
    this.tally.count(raw, path, response);
    this.#metrics?.count(raw, response);
    onCall?.({ method: raw.method, path, response, tape });
  }

  /** Without its query; redacted as soon as the journal is. */
  #shownPath({ url }: RawRequest): string {
    const path = url.split("?", 1)[0]!;
    return this.recording.loadedRedactor?.path(path) ?? path;
  }

  warn(message: string): void {
    const { onWarning } = this.#options;
    if (onWarning === undefined) process.stderr.write(`${message}\n`);
    else onWarning(message);
  }

  async #loadMetrics(): Promise<void> {
    if (this.#metrics !== undefined) return;
    const { Metrics: MetricsClass } = await import("./metrics.ts");
    this.#metrics = await MetricsClass.load({
      compat: this.#options.metricsCompat ?? false,
      clock: this.clock,
      fixtures: () => this.pool.size + this.ownFixtures.entries().length,
      // Dashboards that know aimock's names see no others, unless a guard is asked for.
      ...((!this.#options.metricsCompat || this.#options.guard) && { guard: () => this.guards.current?.counts }),
    });
  }

  /** What listens to the network for this double; all that only a listening one needs has been loaded then. */
  async listener(): Promise<Listener> {
    const { tls, host = "127.0.0.1", port = 0, metrics = false, proxy } = this.#options;
    if (metrics) await this.#loadMetrics();
    await this.guards.open();
    await this.cassettes?.open();
    return new Listener({
      host,
      port,
      ...(tls && { tls: tls === true ? await (await import("./certificate.ts")).makeCertificate() : tls }),
      bodyLimit: this.#options.bodyLimit ?? 100 * 1024 * 1024,
      headersTimeoutMs: this.#options.headersTimeoutMs ?? 60_000,
      idleTimeoutMs: this.#options.idleTimeoutMs ?? 60_000,
      clock: this.clock,
      ...(proxy !== undefined && { proxy: await (await import("./forward-proxy.ts")).openProxy(proxy.ca) }),
      handle: (raw) => this.handle(raw),
      intercept: this.mounts.intercept,
      webSocket: {
        refuse: (raw) => this.#engine.webSocketRefusal(raw, false)!,
        pass: (request, socket, head) =>
          void import("./web-socket-pass.ts").then(({ passWebSocket }) =>
            passWebSocket(request, socket, head, this.#webSocketHost),
          ),
      },
      refuse: (raw, fault) => this.#engine.refuse(raw, new ApiError(fault)),
    });
  }

  get #webSocketHost(): WebSocketHost {
    return {
      clock: this.clock,
      refusal: (raw) => this.#engine.webSocketRefusal(raw, true),
      failure: (raw, error) => this.#engine.refuse(raw, error),
      open: (raw, events) => this.recording.webSocket(raw, events),
      passed: (raw, status) => {
        const provider = this.recording.provider(raw, undefined);
        this.#engine.webSocketPassed(raw, status, provider);
        this.warn(`A WebSocket to ${provider} passes as it is (${raw.method} ${raw.path}): it is not recorded.`);
      },
    };
  }

  #fixtureOptions(): FixtureAnswererOptions {
    const recording = this.recording;
    const { strictTurnIndex: strict = strictTurnsInEnvironment(), requestTransform: transform } = this.#options;
    return {
      defaults: timingOf(this.#options),
      identifier: recording.identifier,
      get repeat() {
        return recording.repeat;
      },
      get othersBefore() {
        return recording.othersBefore;
      },
      // While a conversation is recorded, what was written for another turn of it must not stand in for this one.
      get strictTurns() {
        return strict || recording.mode === "record";
      },
      warn: (message) => this.warn(message),
      ...(transform !== undefined && { transform, exactText: true }),
    };
  }

  #explainMiss(call: Call): Explained | Promise<Explained> {
    const cassettes = this.cassettes?.current;
    if (cassettes !== undefined && cassettes.mode !== "live") {
      const text = cassettes.explain(call);
      return { text, explanation: { text } };
    }
    const told = (explainer: Explainer): Explained => explainer.miss(call);
    const explainer = this.explainer();
    return explainer instanceof Promise ? explainer.then(told) : told(explainer);
  }

  /** What explains a request; loaded when first asked for. */
  explainer(): Explainer | Promise<Explainer> {
    this.#explainer ??= import("./explain.ts").then(async ({ Explainer: ExplainerClass }) => {
      this.#explainer = await ExplainerClass.load({
        router: this.#router,
        memory: this.memory,
        counters: this.counters,
        options: this.#fixtureOptions(),
        redact: this.#options.redact,
        sources: (testId) => [...this.ownFixtures.sources(testId), this.pool],
      });
      return this.#explainer;
    });
    return this.#explainer;
  }

  /** Cassettes take the place of recording into fixtures. */
  #linkCassettes(options: CassetteOptions): CassetteLink {
    this.recording.use(options.mode === "replay" ? "off" : "proxy-only", this.#options.record ?? {});
    return new CassetteLink(options, {
      clock: this.clock,
      operations: dialects.flatMap(({ operations }) => operations),
      identifier: this.recording.identifier,
      redactor: () => this.recording.redactor(),
      warn: (message) => this.warn(message),
    });
  }
}

function strictTurnsInEnvironment(): boolean {
  return (process.env["STUNTDOUBLE_STRICT_TURN_INDEX"] ?? process.env["AIMOCK_STRICT_TURN_INDEX"]) === "1";
}

function timingOf(options: StuntDoubleOptions): Timing {
  const { latency: latencyMs, chunkSize, replaySpeed } = options;
  return {
    ...(latencyMs !== undefined && { latencyMs }),
    ...(chunkSize !== undefined && { chunkSize }),
    ...(replaySpeed !== undefined && { replaySpeed }),
  };
}
