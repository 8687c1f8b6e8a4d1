import type { Server } from "node:http";
import type { ApiErrorFields } from "../dialects/api-error.ts";
import { loadFixtures, loadFixturesAsync } from "../fixtures/load.ts";
import { exchangeFixtures } from "../fixtures/pool.ts";
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
import type { GuardOptions } from "../guard/options.ts";
import type { JournalEntry, JournalFilter } from "../state/journal.ts";
import type { Miss } from "../state/tally.ts";
import { type CassetteState, NO_CASSETTES } from "./cassette-options.ts";
import { control, type Scope } from "./control.ts";
import { assertNoMisses, type CallPattern, type ExpectOptions, expectCalls } from "./expectations.ts";
import type { RequestExplanation } from "./explain.ts";
import type { ExplainRequest } from "./explain-request.ts";
import { fetchThrough } from "./fetch.ts";
import type { GuardCounts } from "./guard-counts.ts";
import type { Listener } from "./listener.ts";
import type { MountHandler } from "./mounts.ts";
import type { StuntDoubleOptions } from "./options.ts";
import type { RecordMode, RecordOptions } from "./recording.ts";
import { Wiring } from "./wiring.ts";

const STOP_GRACE_MS = 2_000;

/** A server that stands in for model providers, and answers from fixtures. */
export class StuntDouble {
  readonly #options: StuntDoubleOptions;
  readonly #parts: Wiring;
  readonly #watches: FixtureWatch[] = [];
  #listener: Listener | undefined;
  #port: number | undefined;

  /** Answers like the server, in this process and without a socket. Works before `start()` too. */
  readonly fetch: typeof globalThis.fetch;

  constructor(options: StuntDoubleOptions = {}) {
    this.#options = options;
    this.#parts = new Wiring(options, (raw) => control(this, raw));
    this.fetch = fetchThrough((raw) => this.#parts.handle(raw), this.#parts.clock);
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
    const listener = await this.#parts.listener();
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
    this.#parts.stopping = listener !== undefined;
    await Promise.all(this.#watches.splice(0).map((watch) => watch.close()));
    await listener?.stop(STOP_GRACE_MS);
    this.#parts.stopping = false;
    const lost = [...(await this.#parts.recording.close()), ...((await this.#parts.cassettes?.close()) ?? [])];
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
    this.#parts.mounts.add(prefix, handler);
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

  /** Answers JSON where the request asks for it, with a schema or without. */
  onJsonOutput(userMessage: TextPattern, json: object | string, options?: FixtureOptions): this {
    const content = typeof json === "string" ? json : JSON.stringify(json);
    return this.on({ userMessage, responseFormat: "json" }, { content }, options);
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
    this.#parts.pool.addAll([fixture]);
    return this;
  }

  /** @param scope a test id whose calls alone see them, before all others */
  addFixtures(fixtures: readonly Fixture[], { testId }: Scope = {}): this {
    const pool = testId === undefined ? this.#parts.pool : this.#parts.ownFixtures.pool(testId);
    pool.addAll(fixtures);
    return this;
  }

  /** Puts it before all others. */
  prependFixture(fixture: Fixture): this {
    this.#parts.pool.prepend(fixture);
    return this;
  }

  /**
   * Adds the fixtures of files and folders. The folder that is recorded into need not be there yet.
   * @throws {FixtureError} with every fault of every file
   */
  load(...paths: string[]): this {
    this.#parts.recording.makeFolder(paths);
    return this.addFixtures(loadFixtures(paths));
  }

  /**
   * The same where some of the paths are `http(s)` URLs.
   * @throws {FixtureError} with every fault of every file
   */
  async loadAsync(...paths: string[]): Promise<this> {
    this.#parts.recording.makeFolder(paths);
    return this.addFixtures(await loadFixturesAsync(paths, { warn: (message) => this.#parts.warn(message) }));
  }

  /**
   * Loads fixtures and, until it stops, whatever changes in their files. A broken edit changes nothing: what was loaded
   * before is served on. Sequences and counts of fixtures that have not changed go on.
   * @throws {FixtureError} with every fault of every file, to begin with
   */
  async watch(paths: string | readonly string[], options: WatchOptions = {}): Promise<this> {
    this.#parts.recording.makeFolder([paths].flat());
    const { watchFixtures } = await import("../fixtures/watch.ts");
    const warn = (message: string): void => this.#parts.warn(message);
    const watch = await watchFixtures(
      [paths].flat(),
      (next, before) => exchangeFixtures(this.#parts.pool, next, before),
      {
        warn,
        onFault: ({ message }) => warn(`${message}\nWhat was loaded before is served on.`),
        ...options,
      },
    );
    this.#watches.push(watch);
    return this;
  }

  /** @param scope a test id whose own fixtures are meant; without one, those of all */
  clearFixtures({ testId }: Scope = {}): this {
    if (testId === undefined) this.#parts.pool.clear();
    this.#parts.ownFixtures.clear(testId);
    return this;
  }

  get fixtures(): readonly Fixture[] {
    return this.#parts.pool.list();
  }

  /**
   * From now on, calls that no fixture answers go to their providers, and become fixtures unless `proxyOnly`.
   * @param options those of before, unless given
   */
  enableRecording(options?: RecordOptions): this {
    this.#parts.recording.enable(options);
    return this;
  }

  /** From now on, calls that no fixture answers are misses. What is being written is finished. */
  disableRecording(): this {
    this.#parts.recording.use("off");
    return this;
  }

  /** Switches what becomes of calls that no fixture answers; all else of recording stays as it was set. */
  setRecordMode(mode: RecordMode): this {
    this.#parts.recording.use(mode);
    return this;
  }

  get recordMode(): RecordMode {
    return this.#parts.recording.mode;
  }

  /** When everything that has been answered so far is written. */
  async recorded(): Promise<void> {
    await Promise.all([this.#parts.recording.settled(), this.#parts.cassettes?.current?.settled()]);
  }

  /** The next call fails, and only that one. */
  nextRequestError(status: number, error: Partial<Omit<ApiErrorFields, "status">> = {}, { testId }: Scope = {}): this {
    this.#parts.errors.queue({ message: "Injected error", ...error, status }, testId);
    return this;
  }

  /**
   * Faults by chance from now on, in the place of those that were set before.
   * @param scope a test id whose calls they befall, in the place of those for all
   * @throws {RangeError} when a rate is not from 0 to 1, or a field is not known
   */
  setChaos(chaos: Chaos, { testId }: Scope = {}): this {
    this.#parts.chaos.set(chaos, testId);
    return this;
  }

  /** No faults any more; for a test id, those for all again. */
  clearChaos({ testId }: Scope = {}): this {
    this.#parts.chaos.clear(testId);
    return this;
  }

  /** The faults that befall calls by chance, where neither fixture nor header says otherwise. */
  chaos({ testId }: Scope = {}): Chaos {
    return this.#parts.chaos.get(testId);
  }

  /** What guardrails have found, how often replies were cut, and what has been used up of limits. */
  get guard(): GuardCounts | undefined {
    return this.#parts.guards.current?.counts;
  }

  /**
   * Puts another guard in force, in the place of the one before; counts and what was used up begin anew.
   * @param options those of the start, unless given
   * @throws {GuardError} with what is wrong with them; nothing has changed then
   */
  async setGuard(options?: GuardOptions): Promise<this> {
    const { guards, recording } = this.#parts;
    await guards.use(options, ({ secrets }) => recording.redactAlso(secrets));
    return this;
  }

  /** The calls so far, oldest first. */
  calls(filter?: JournalFilter): JournalEntry[] {
    return this.#parts.journal.read(filter);
  }

  lastCall(filter?: JournalFilter): JournalEntry | undefined {
    return this.#parts.journal.last(filter);
  }

  clearCalls({ testId }: Scope = {}): this {
    this.#parts.journal.clear(testId);
    this.#parts.tally.clear(testId);
    return this;
  }

  /**
   * The calls that fit a pattern, or each of several.
   * @throws {ExpectationError} when they are not as many as expected (at least one), or came in another order
   */
  expectCalls(pattern: CallPattern | readonly CallPattern[], options: ExpectOptions = {}): JournalEntry[] {
    const { testId } = options;
    const calls = this.#parts.journal.readCalls(testId === undefined ? {} : { testId });
    return expectCalls(calls, [pattern].flat() as CallPattern[], options, this.#parts.journal.forgotten);
  }

  /** Fixtures that have not answered anything yet. */
  unusedFixtures({ testId }: Scope = {}): Fixture[] {
    const entries = testId === undefined ? this.#parts.pool.entries() : [];
    const all = [...entries, ...this.#parts.ownFixtures.entries(testId)];
    return all.filter((entry) => entry.served === 0).map((entry) => entry.fixture);
  }

  /** @throws {ExpectationError} that lists the calls that nothing answered, if there were any */
  assertNoMisses({ testId }: Scope = {}): void {
    const misses = this.#parts.tally.misses(testId);
    assertNoMisses(misses, testId === undefined ? this.#parts.tally.missed : misses.length);
  }

  /** The last hundred calls that nothing answered. */
  misses({ testId }: Scope = {}): readonly Miss[] {
    return this.#parts.tally.misses(testId);
  }

  /** How calls have ended so far: answered by a tape, a provider or the double itself, or by nobody. */
  get summary(): { served: number; missed: number } {
    const { served, missed } = this.#parts.tally;
    return { served, missed };
  }

  /** Sequences begin anew; fixtures stay. */
  resetCounts(testId?: string): this {
    this.#parts.counters.reset(testId);
    this.resetCassettes(testId);
    this.#parts.stamps.reset(testId);
    return this;
  }

  /** As new: no fixtures, no counts, no journal, no errors and no chaos to come. For a test id, all that is its own. */
  reset(scope: Scope = {}): this {
    const { testId } = scope;
    this.#parts.errors.clear(testId);
    this.#parts.guards.current?.reset(testId);
    if (testId === undefined) {
      this.#parts.memory.clear();
      this.#parts.chaos.clearAll();
    } else this.#parts.chaos.clear(testId);
    return this.clearFixtures(scope).resetCounts(testId).clearCalls(scope);
  }

  /**
   * Which fixture answers a request, which others are near it, and what stops each. Nothing is served.
   * @throws {ApiError} when the request cannot be understood
   */
  async explain(request: ExplainRequest): Promise<RequestExplanation> {
    return (await this.#parts.explainer()).request(request);
  }

  /** What has been recorded and replayed so far, and the cassettes that there are. */
  async cassettes(): Promise<CassetteState> {
    const open = await this.#parts.cassettes?.open();
    return open?.state ?? NO_CASSETTES;
  }

  /** Recorded calls are answered from the first time on again: those of a scenario, or all. */
  resetCassettes(scenario?: string): this {
    this.#parts.cassettes?.current?.reset(scenario);
    return this;
  }

  /** Names of the cassettes that have not answered anything, and of none that was recorded in this run. */
  get unusedCassettes(): readonly string[] {
    return this.#parts.cassettes?.unused ?? [];
  }
}
