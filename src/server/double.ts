import type { Server } from "node:http";
import { withoutMetadata } from "../cassettes/call-metadata.ts";
import type { Timing } from "../chat/timing.ts";
import { ApiError, type ApiErrorFields } from "../dialects/api-error.ts";
import type { Call } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import { type FixtureAnswererOptions, fixtureAnswerer } from "../fixtures/answerer.ts";
import { LiveFixtures } from "../fixtures/live-fixtures.ts";
import { loadFixtures, loadFixturesAsync } from "../fixtures/load.ts";
import { FixturePool, type FixtureStore } from "../fixtures/pool.ts";
import type {
  Chaos,
  Fixture,
  FixtureMatch,
  FixtureOptions,
  FixtureResponder,
  FixtureResponse,
  TextPattern,
} from "../fixtures/types.ts";
import type { FixtureWatch, WatchOptions } from "../fixtures/watch.ts";
import { InboundKeys } from "../guard/inbound-keys.ts";
import { dialects } from "../services/registry.ts";
import { type Clock, SystemClock } from "../state/clock.ts";
import { DEFAULT_MAX_TEST_IDS, MemoryCounters } from "../state/counters.ts";
import { Journal, type JournalEntry, type JournalFilter, type JournalResponse } from "../state/journal.ts";
import { LocalMemory } from "../state/memory.ts";
import { FreshStamps, SeededStamps, type Stamps } from "../state/stamps.ts";
import { type Miss, Tally } from "../state/tally.ts";
import { CassetteLink } from "./cassette-link.ts";
import type { CassetteOptions } from "./cassette-options.ts";
import { ChaosControl } from "./chaos.ts";
import { control, type Scope } from "./control.ts";
import { Engine, type Explained } from "./engine.ts";
import { assertNoMisses, type CallPattern, type ExpectOptions, expectCalls } from "./expectations.ts";
import type { Explainer, RequestExplanation } from "./explain.ts";
import type { ExplainRequest } from "./explain-request.ts";
import { fetchThrough } from "./fetch.ts";
import { Listener } from "./listener.ts";
import type { Metrics } from "./metrics.ts";
import { type MountHandler, Mounts } from "./mounts.ts";
import { OneShotErrors } from "./one-shot.ts";
import type { StuntDoubleOptions } from "./options.ts";
import type { Outcome } from "./outcome.ts";
import { OwnFixtures } from "./own-fixtures.ts";
import { openPaths } from "./own-paths.ts";
import { Recording, type RecordMode, type RecordOptions } from "./recording.ts";
import { Router } from "./router.ts";

const STOP_GRACE_MS = 2_000;

/** A server that stands in for model providers, and answers from fixtures. */
export class StuntDouble {
  readonly #options: StuntDoubleOptions;
  readonly #clock: Clock;
  readonly #pool: FixtureStore;
  readonly #counters: MemoryCounters;
  readonly #journal: Journal;
  readonly #stamps: Stamps;
  readonly #memory = new LocalMemory();
  readonly #router = new Router(dialects);
  readonly #errors: OneShotErrors;
  readonly #chaos: ChaosControl;
  readonly #ownFixtures: OwnFixtures;
  readonly #tally = new Tally();
  readonly #mounts: Mounts;
  readonly #recording: Recording;
  readonly #cassettes: CassetteLink | undefined;
  readonly #engine: Engine;
  #metrics: Metrics | undefined;
  #watches: FixtureWatch[] = [];
  #explainer: Explainer | Promise<Explainer> | undefined;
  #stopping = false;
  #listener: Listener | undefined;
  #port: number | undefined;

  /** Answers like the server, in this process and without a socket. Works before `start()` too. */
  readonly fetch: typeof globalThis.fetch;

  constructor(options: StuntDoubleOptions = {}) {
    this.#options = options;
    this.#clock = options.clock ?? new SystemClock();
    const { liveFixtures, fixtures: given = [] } = options;
    this.#pool = liveFixtures === undefined ? new FixturePool(given) : new LiveFixtures(liveFixtures);
    const maxTestIds = options.fixtureCountsMaxTestIds ?? DEFAULT_MAX_TEST_IDS;
    this.#counters = new MemoryCounters(maxTestIds);
    this.#errors = new OneShotErrors(maxTestIds);
    this.#journal = new Journal(options.journalMaxEntries ?? 1000);
    this.#stamps = options.seed === undefined ? new FreshStamps(this.#clock) : new SeededStamps(options.seed);
    this.#recording = new Recording({
      clock: this.#clock,
      counters: this.#counters,
      redact: options.redact,
      repeat: options.repeat,
      add: (fixture) => this.#pool.addAll([fixture]),
      warn: (message) => this.#warn(message),
      tapes: () => this.#cassettes?.current?.tapes,
      passes: (call) => this.#cassettes?.current?.passes(call) ?? true,
    });
    if (options.record !== undefined) this.enableRecording(options.record);
    this.#cassettes = options.cassettes && this.#linkCassettes(options.cassettes);
    this.#chaos = new ChaosControl(this.#stamps, this.#clock, options.chaos, maxTestIds);
    this.#ownFixtures = new OwnFixtures(this.#counters, this.#fixtureOptions(), maxTestIds);
    const fixtures = fixtureAnswerer(this.#pool, this.#counters, this.#fixtureOptions());
    const recorded = this.#cassettes === undefined ? [] : [this.#cassettes.answer];
    this.#engine = new Engine({
      router: this.#router,
      explain: (call) => this.#explainMiss(call),
      answerers: [this.#errors.answer, this.#ownFixtures.answer, fixtures, ...recorded],
      httpAnswerers: [this.#ownFixtures.answer, fixtures, ...recorded],
      upstream: this.#recording.answer,
      journal: this.#journal,
      stamps: this.#stamps,
      memory: this.#memory,
      clock: this.#clock,
      chaos: this.#chaos,
      strict: options.strict ?? false,
      rateLimitHeaders: options.rateLimitHeaders ?? false,
      ...(options.auth && { keys: new InboundKeys(options.auth.apiKeys) }),
      open: (raw) => openPaths(raw, this.#stopping, this.#metrics),
      control: (raw) => control(this, raw),
      onCall: (raw, response, tape) => this.#tell(raw, response, tape),
      plainMisses: options.plainMisses ?? false,
    });
    this.#mounts = new Mounts((raw) => this.#engine.refusal(raw), this.#clock);
    this.fetch = fetchThrough((raw) => this.#handle(raw), this.#clock);
  }

  /** A double that listens already. */
  static async start(options: StuntDoubleOptions = {}): Promise<StuntDouble> {
    const double = new StuntDouble(options);
    await double.start();
    return double;
  }

  /** @throws {Error} when the port is taken (`code` EADDRINUSE), or when it has been started already */
  async start(): Promise<this> {
    if (this.#listener !== undefined) throw new Error("This double has been started already; stop() it first.");
    const { tls, host = "127.0.0.1", port = 0, metrics = false, proxy } = this.#options;
    if (metrics) await this.#loadMetrics();
    await this.#cassettes?.open();
    const listener = new Listener({
      host,
      port,
      ...(tls && { tls: tls === true ? await (await import("./certificate.ts")).makeCertificate() : tls }),
      bodyLimit: this.#options.bodyLimit ?? 100 * 1024 * 1024,
      headersTimeoutMs: this.#options.headersTimeoutMs ?? 60_000,
      idleTimeoutMs: this.#options.idleTimeoutMs ?? 60_000,
      clock: this.#clock,
      ...(proxy !== undefined && { proxy: await (await import("./forward-proxy.ts")).openProxy(proxy.ca) }),
      handle: (raw) => this.#handle(raw),
      intercept: this.#mounts.intercept,
      refuse: (raw, fault) => this.#engine.refuse(raw, new ApiError(fault)),
    });
    this.#listener = listener;
    try {
      this.#port = await listener.listen();
    } catch (error) {
      this.#listener = undefined;
      throw error;
    }
    return this;
  }

  /**
   * Lets calls under way end, for two seconds at most, waits for what is being written, and closes. Does nothing when
   * it is not running.
   * @throws {AggregateError} with the recordings that could not be written
   */
  async stop(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    this.#port = undefined;
    this.#stopping = listener !== undefined;
    await Promise.all(this.#watches.splice(0).map((watch) => watch.close()));
    await listener?.stop(STOP_GRACE_MS);
    this.#stopping = false;
    const lost = [...(await this.#recording.close()), ...((await this.#cassettes?.close()) ?? [])];
    if (lost.length > 0) throw new AggregateError(lost, lost.map(({ message }) => message).join("\n"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** @throws {Error} while it is not running */
  get port(): number {
    if (this.#port === undefined) throw new Error("This double is not running: start() it first.");
    return this.#port;
  }

  get isRunning(): boolean {
    return this.#port !== undefined;
  }

  /** `http://127.0.0.1:4010`, without a path. */
  get url(): string {
    const { host = "127.0.0.1", tls } = this.#options;
    const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
    return `${tls ? "https" : "http"}://${shown}:${this.port}`;
  }

  /**
   * Hands requests whose path begins with a prefix to somebody else, with the prefix taken off. What it does not
   * answer goes on as before. Only over the network: `fetch` knows no mounts.
   */
  mount(prefix: string, handler: MountHandler): this {
    this.#mounts.add(prefix, handler);
    return this;
  }

  /**
   * Node's server, for who has to hand it on.
   * @throws {Error} while it is not running
   */
  get server(): Server {
    if (this.#listener === undefined) throw new Error("This double is not running: start() it first.");
    return this.#listener.server;
  }

  /** Answers `response` to each request for which all of `match` holds. */
  on(match: FixtureMatch, response: FixtureResponse | FixtureResponder, options?: FixtureOptions): this {
    return this.addFixture({ match, response, ...options });
  }

  /** Answers a conversation by its last user message: a part of it, or a pattern. */
  onMessage(userMessage: TextPattern, response: FixtureResponse | FixtureResponder, options?: FixtureOptions): this {
    return this.on({ userMessage }, response, options);
  }

  onEmbedding(inputText: TextPattern, response: FixtureResponse | FixtureResponder, options?: FixtureOptions): this {
    return this.on({ inputText }, response, options);
  }

  /** Answers JSON where the request asks for it. */
  onJsonOutput(userMessage: TextPattern, json: object | string, options?: FixtureOptions): this {
    const content = typeof json === "string" ? json : JSON.stringify(json);
    return this.on({ userMessage, responseFormat: "json_object" }, { content }, options);
  }

  /** Answers a request that offers a tool. */
  onToolCall(toolName: string, response: FixtureResponse | FixtureResponder, options?: FixtureOptions): this {
    return this.on({ toolName }, response, options);
  }

  /** Answers a request that ends with the result of a tool call. */
  onToolResult(toolCallId: string, response: FixtureResponse | FixtureResponder, options?: FixtureOptions): this {
    return this.on({ toolCallId }, response, options);
  }

  /** Answers a conversation in which the model has spoken so many times. */
  onTurn(
    turnIndex: number,
    userMessage: TextPattern,
    response: FixtureResponse | FixtureResponder,
    options?: FixtureOptions,
  ): this {
    return this.on({ turnIndex, userMessage }, response, options);
  }

  addFixture(fixture: Fixture): this {
    this.#pool.addAll([fixture]);
    return this;
  }

  /** @param scope a test id whose calls alone see them, before all others */
  addFixtures(fixtures: readonly Fixture[], { testId }: Scope = {}): this {
    const pool = testId === undefined ? this.#pool : this.#ownFixtures.pool(testId);
    pool.addAll(fixtures);
    return this;
  }

  /** Puts it before all others. */
  prependFixture(fixture: Fixture): this {
    this.#pool.prepend(fixture);
    return this;
  }

  /**
   * Adds the fixtures of files and folders.
   * @throws {FixtureError} with every fault of every file
   */
  load(...paths: string[]): this {
    return this.addFixtures(loadFixtures(paths));
  }

  /**
   * From now on, calls that no fixture answers go to their providers, and become fixtures unless `proxyOnly`.
   * @param options those of before, unless given
   */
  enableRecording(options?: RecordOptions): this {
    const { proxyOnly } = options ?? this.#options.record ?? {};
    this.#recording.use(proxyOnly ? "proxy-only" : "record", options);
    return this;
  }

  /** From now on, calls that no fixture answers are misses. What is being written is finished. */
  disableRecording(): this {
    this.#recording.use("off");
    return this;
  }

  /** Switches what becomes of calls that no fixture answers; all else of recording stays as it was set. */
  setRecordMode(mode: RecordMode): this {
    this.#recording.use(mode);
    return this;
  }

  get recordMode(): RecordMode {
    return this.#recording.mode;
  }

  /** When everything that has been answered so far is written. */
  async recorded(): Promise<void> {
    await Promise.all([this.#recording.settled(), this.#cassettes?.current?.settled()]);
  }

  /** @param scope a test id whose own fixtures are meant; without one, those of all */
  /**
   * The same where some of the paths are `http(s)` URLs.
   * @throws {FixtureError} with every fault of every file
   */
  async loadAsync(...paths: string[]): Promise<this> {
    return this.addFixtures(await loadFixturesAsync(paths, { warn: (message) => this.#warn(message) }));
  }

  /**
   * Loads fixtures and, until it stops, whatever changes in their files. A broken edit changes nothing: what was loaded
   * before is served on. Sequences and counts of fixtures that have not changed go on.
   * @throws {FixtureError} with every fault of every file, to begin with
   */
  async watch(paths: string | readonly string[], options: WatchOptions = {}): Promise<this> {
    const { watchFixtures } = await import("../fixtures/watch.ts");
    const warn = (message: string): void => this.#warn(message);
    const watch = await watchFixtures([paths].flat(), (next, before) => this.#exchange(next, before), {
      warn,
      onFault: ({ message }) => warn(`${message}\nWhat was loaded before is served on.`),
      ...options,
    });
    this.#watches.push(watch);
    return this;
  }

  /** Puts fixtures in the place of others; behind all where those are there no more. */
  #exchange(next: readonly Fixture[], before: readonly Fixture[]): void {
    const old = new Set(before);
    const others = this.#pool.list();
    const at = others.findIndex((fixture) => old.has(fixture));
    const rest = others.filter((fixture) => !old.has(fixture));
    const place = at < 0 ? rest.length : at;
    this.#pool.replace([...rest.slice(0, place), ...next, ...rest.slice(place)]);
  }

  clearFixtures({ testId }: Scope = {}): this {
    if (testId === undefined) this.#pool.clear();
    this.#ownFixtures.clear(testId);
    return this;
  }

  get fixtures(): readonly Fixture[] {
    return this.#pool.list();
  }

  /** The next call fails, and only that one. */
  nextRequestError(status: number, error: Partial<Omit<ApiErrorFields, "status">> = {}, { testId }: Scope = {}): this {
    this.#errors.queue({ message: "Injected error", ...error, status }, testId);
    return this;
  }

  /**
   * Faults by chance from now on, in the place of those that were set before.
   * @param scope a test id whose calls they befall, in the place of those for all
   * @throws {RangeError} when a rate is not from 0 to 1, or a field is not known
   */
  setChaos(chaos: Chaos, { testId }: Scope = {}): this {
    this.#chaos.set(chaos, testId);
    return this;
  }

  /** No faults any more; for a test id, those for all again. */
  clearChaos({ testId }: Scope = {}): this {
    this.#chaos.clear(testId);
    return this;
  }

  /** The faults that befall calls by chance, where neither fixture nor header says otherwise. */
  chaos({ testId }: Scope = {}): Chaos {
    return this.#chaos.get(testId);
  }

  /** The calls so far, oldest first. */
  calls(filter?: JournalFilter): JournalEntry[] {
    return this.#journal.read(filter);
  }

  lastCall(filter?: JournalFilter): JournalEntry | undefined {
    return this.#journal.last(filter);
  }

  clearCalls({ testId }: Scope = {}): this {
    this.#journal.clear(testId);
    this.#tally.clear(testId);
    return this;
  }

  /**
   * The calls that fit a pattern, or each of several.
   * @throws {ExpectationError} when they are not as many as expected (at least one), or came in another order
   */
  expectCalls(pattern: CallPattern | readonly CallPattern[], options: ExpectOptions = {}): JournalEntry[] {
    const { testId } = options;
    const calls = this.#journal.readCalls(testId === undefined ? {} : { testId });
    return expectCalls(calls, [pattern].flat() as CallPattern[], options, this.#journal.forgotten);
  }

  /** Fixtures that have not answered anything yet. */
  unusedFixtures({ testId }: Scope = {}): Fixture[] {
    const entries = testId === undefined ? this.#pool.entries() : [];
    const all = [...entries, ...this.#ownFixtures.entries(testId)];
    return all.filter((entry) => entry.served === 0).map((entry) => entry.fixture);
  }

  /** @throws {ExpectationError} that lists the calls that nothing answered, if there were any */
  assertNoMisses({ testId }: Scope = {}): void {
    const misses = this.#tally.misses(testId);
    assertNoMisses(misses, testId === undefined ? this.#tally.missed : misses.length);
  }

  /** The last hundred calls that nothing answered. */
  misses({ testId }: Scope = {}): readonly Miss[] {
    return this.#tally.misses(testId);
  }

  /** How calls have ended so far: answered by a tape, a provider or the double itself, or by nobody. */
  get summary(): { served: number; missed: number } {
    const { served, missed } = this.#tally;
    return { served, missed };
  }

  /** Sequences begin anew; fixtures stay. */
  resetCounts(testId?: string): this {
    this.#counters.reset(testId);
    if (testId === undefined) this.#cassettes?.current?.reset();
    this.#stamps.reset(testId);
    return this;
  }

  #fixtureOptions(): FixtureAnswererOptions {
    const recording = this.#recording;
    const { strictTurnIndex: strict = strictTurnsInEnvironment(), requestTransform: transform } = this.#options;
    return {
      defaults: timingOf(this.#options),
      identifier: recording.identifier,
      get repeat() {
        return recording.repeat;
      },
      // While a conversation is recorded, what was written for another turn of it must not stand in for this one.
      get strictTurns() {
        return strict || recording.mode === "record";
      },
      warn: (message) => this.#warn(message),
      ...(transform !== undefined && { transform, exactText: true }),
    };
  }

  /** As new: no fixtures, no counts, no journal, no errors and no chaos to come. For a test id, all that is its own. */
  reset(scope: Scope = {}): this {
    const { testId } = scope;
    this.#errors.clear(testId);
    if (testId === undefined) {
      this.#memory.clear();
      this.#chaos.clearAll();
    } else this.#chaos.clear(testId);
    return this.clearFixtures(scope).resetCounts(testId).clearCalls(scope);
  }

  /**
   * Which fixture answers a request, which others are near it, and what stops each. Nothing is served.
   * @throws {ApiError} when the request cannot be understood
   */
  async explain(request: ExplainRequest): Promise<RequestExplanation> {
    return (await this.#loadExplainer()).request(request);
  }

  #explainMiss(call: Call): Explained | Promise<Explained> {
    const cassettes = this.#cassettes?.current;
    if (cassettes !== undefined && cassettes.mode !== "live") {
      const text = cassettes.explain(call);
      return { text, explanation: { text } };
    }
    const told = (explainer: Explainer): Explained => explainer.miss(call);
    const explainer = this.#loadExplainer();
    return explainer instanceof Promise ? explainer.then(told) : told(explainer);
  }

  #loadExplainer(): Explainer | Promise<Explainer> {
    this.#explainer ??= import("./explain.ts").then(async ({ Explainer: ExplainerClass }) => {
      this.#explainer = await ExplainerClass.load({
        router: this.#router,
        memory: this.#memory,
        counters: this.#counters,
        options: this.#fixtureOptions(),
        redact: this.#options.redact,
        sources: (testId) => [...this.#ownFixtures.sources(testId), this.#pool],
      });
      return this.#explainer;
    });
    return this.#explainer;
  }

  /** Cassettes take the place of recording into fixtures. */
  #linkCassettes(options: CassetteOptions): CassetteLink {
    this.#recording.use(options.mode === "replay" ? "off" : "proxy-only", this.#options.record ?? {});
    return new CassetteLink(options, {
      clock: this.#clock,
      operations: dialects.flatMap(({ operations }) => operations),
      identifier: this.#recording.identifier,
      redactor: () => this.#recording.redactor(),
      warn: (message) => this.#warn(message),
    });
  }

  /** Names of the cassettes that have not answered anything, and of none that was recorded in this run. */
  get unusedCassettes(): readonly string[] {
    return this.#cassettes?.unused ?? [];
  }

  #handle(given: RawRequest): Outcome | Promise<Outcome> {
    const raw = this.#cassettes === undefined ? given : withoutMetadata(given);
    const metrics = this.#metrics;
    return metrics === undefined ? this.#engine.handle(raw) : metrics.timed(raw, this.#engine);
  }

  #tell(raw: RawRequest, response: JournalResponse, tape: unknown): void {
    this.#tally.count(raw, response);
    this.#metrics?.count(raw, response);
    const { onCall } = this.#options;
    if (onCall !== undefined) onCall({ method: raw.method, path: raw.url.split("?", 1)[0]!, response, tape });
  }

  #warn(message: string): void {
    const { onWarning } = this.#options;
    if (onWarning === undefined) process.stderr.write(`${message}\n`);
    else onWarning(message);
  }

  async #loadMetrics(): Promise<void> {
    if (this.#metrics !== undefined) return;
    const { Metrics: MetricsClass } = await import("./metrics.ts");
    this.#metrics = await MetricsClass.load({
      compat: this.#options.metricsCompat ?? false,
      clock: this.#clock,
      fixtures: () => this.#pool.size + this.#ownFixtures.entries().length,
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
