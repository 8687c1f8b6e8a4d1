import type { Timing } from "../chat/timing.ts";
import { ApiError, type ApiErrorFields } from "../dialects/api-error.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import { type FixtureAnswererOptions, fixtureAnswerer } from "../fixtures/answerer.ts";
import { loadFixtures } from "../fixtures/load.ts";
import { FixturePool } from "../fixtures/pool.ts";
import type { Repeat } from "../fixtures/select.ts";
import type { Fixture, FixtureMatch, FixtureOptions, FixtureResponder, FixtureResponse } from "../fixtures/types.ts";
import type { RedactionOptions } from "../guard/redact.ts";
import { dialects } from "../services/registry.ts";
import { type Clock, SystemClock } from "../state/clock.ts";
import { MemoryCounters } from "../state/counters.ts";
import { Journal, type JournalEntry, type JournalFilter, type JournalResponse } from "../state/journal.ts";
import { LocalMemory } from "../state/memory.ts";
import { FreshStamps, SeededStamps, type Stamps } from "../state/stamps.ts";
import { Engine } from "./engine.ts";
import { fetchThrough } from "./fetch.ts";
import { Listener } from "./listener.ts";
import { OneShotErrors } from "./one-shot.ts";
import { ownPaths } from "./own-paths.ts";
import { Recording, type RecordMode, type RecordOptions } from "./recording.ts";
import { Router } from "./router.ts";

export interface StuntDoubleOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** 127.0.0.1 unless given. */
  host?: string;
  /** HTTPS: with a certificate of yours, or `true` for one made on the spot. */
  tls?: boolean | { key: string | Buffer; cert: string | Buffer };
  fixtures?: readonly Fixture[];
  /** Milliseconds before each chunk, where a fixture says nothing else. */
  latency?: number;
  /** Characters in each piece of a streamed text, where a fixture says nothing else; 20 unless given. */
  chunkSize?: number;
  /** Divides every delay. */
  replaySpeed?: number;
  /** Fixes ids, time stamps and chance: the same calls get the same bytes. */
  seed?: string | number;
  /** Calls that the journal keeps; 1000 unless given. */
  journalMaxEntries?: number;
  /** Test ids whose counts are kept; 500 unless given. */
  fixtureCountsMaxTestIds?: number;
  /** Bytes of a request body; 100 MB unless given. */
  bodyLimit?: number;
  headersTimeoutMs?: number;
  idleTimeoutMs?: number;
  /** Calls that no fixture answers go to their providers, and become fixtures unless `proxyOnly`. */
  record?: RecordOptions;
  /** What must not be written; recorded requests are matched after the same redaction. */
  redact?: RedactionOptions;
  /** What answers once a recorded sequence is over: its last answer again (unless given), all of it again, or nothing. */
  repeat?: Repeat;
  /** Told what the author should know: a recording that could not be written, or is not whole. stderr unless given. */
  onWarning?: (message: string) => void;
  /** Time in place of the machine's, for tests. */
  clock?: Clock;
  /** Told of every call once it is answered. */
  onCall?: (call: { method: string; path: string; response: JournalResponse }) => void;
}

const STOP_GRACE_MS = 2_000;

/** A server that stands in for model providers, and answers from fixtures. */
export class StuntDouble {
  readonly #options: StuntDoubleOptions;
  readonly #clock: Clock;
  readonly #pool: FixturePool;
  readonly #counters: MemoryCounters;
  readonly #journal: Journal;
  readonly #stamps: Stamps;
  readonly #memory = new LocalMemory();
  readonly #errors = new OneShotErrors();
  readonly #recording: Recording;
  readonly #engine: Engine;
  #listener: Listener | undefined;
  #port: number | undefined;

  /** Answers like the server, in this process and without a socket. Works before `start()` too. */
  readonly fetch: typeof globalThis.fetch;

  constructor(options: StuntDoubleOptions = {}) {
    this.#options = options;
    this.#clock = options.clock ?? new SystemClock();
    this.#pool = new FixturePool(options.fixtures ?? []);
    this.#counters = new MemoryCounters(options.fixtureCountsMaxTestIds);
    this.#journal = new Journal(options.journalMaxEntries ?? 1000);
    this.#stamps = options.seed === undefined ? new FreshStamps(this.#clock) : new SeededStamps(options.seed);
    this.#recording = new Recording({
      clock: this.#clock,
      counters: this.#counters,
      redact: options.redact,
      repeat: options.repeat,
      add: (fixture) => this.#pool.add(fixture),
      warn: options.onWarning ?? ((message) => void process.stderr.write(`${message}\n`)),
    });
    if (options.record !== undefined) this.enableRecording(options.record);
    const { onCall } = options;
    const fixtures = fixtureAnswerer(this.#pool, this.#counters, this.#fixtureOptions());
    this.#engine = new Engine({
      router: new Router(dialects),
      answerers: [this.#errors.answer, fixtures],
      httpAnswerers: [fixtures],
      upstream: this.#recording.answer,
      journal: this.#journal,
      stamps: this.#stamps,
      memory: this.#memory,
      clock: this.#clock,
      own: ownPaths,
      ...(onCall && {
        onCall: (raw: RawRequest, response: JournalResponse) =>
          onCall({ method: raw.method, path: raw.url.split("?", 1)[0]!, response }),
      }),
    });
    this.fetch = fetchThrough((raw) => this.#engine.handle(raw), this.#clock);
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
    const { tls, host = "127.0.0.1", port = 0 } = this.#options;
    const listener = new Listener({
      host,
      port,
      ...(tls && { tls: tls === true ? await (await import("./certificate.ts")).makeCertificate() : tls }),
      bodyLimit: this.#options.bodyLimit ?? 100 * 1024 * 1024,
      headersTimeoutMs: this.#options.headersTimeoutMs ?? 60_000,
      idleTimeoutMs: this.#options.idleTimeoutMs ?? 60_000,
      clock: this.#clock,
      handle: (raw) => this.#engine.handle(raw),
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
    await listener?.stop(STOP_GRACE_MS);
    const lost = await this.#recording.close();
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

  /** `http://127.0.0.1:4010`, without a path. */
  get url(): string {
    const { host = "127.0.0.1", tls } = this.#options;
    const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
    return `${tls ? "https" : "http"}://${shown}:${this.port}`;
  }

  /** Answers `response` to each request for which all of `match` holds. */
  on(match: FixtureMatch, response: FixtureResponse | FixtureResponder, options?: FixtureOptions): this {
    return this.addFixture({ match, response, ...options });
  }

  /** Answers a conversation by its last user message: a part of it, or a pattern. */
  onMessage(
    userMessage: string | RegExp,
    response: FixtureResponse | FixtureResponder,
    options?: FixtureOptions,
  ): this {
    return this.on({ userMessage }, response, options);
  }

  onEmbedding(
    inputText: string | RegExp,
    response: FixtureResponse | FixtureResponder,
    options?: FixtureOptions,
  ): this {
    return this.on({ inputText }, response, options);
  }

  /** Answers JSON where the request asks for it. */
  onJsonOutput(userMessage: string | RegExp, json: object | string, options?: FixtureOptions): this {
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
    userMessage: string | RegExp,
    response: FixtureResponse | FixtureResponder,
    options?: FixtureOptions,
  ): this {
    return this.on({ turnIndex, userMessage }, response, options);
  }

  addFixture(fixture: Fixture): this {
    this.#pool.add(fixture);
    return this;
  }

  addFixtures(fixtures: readonly Fixture[]): this {
    this.#pool.addAll(fixtures);
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

  get recordMode(): RecordMode {
    return this.#recording.mode;
  }

  /** When everything that has been answered so far is written. */
  async recorded(): Promise<void> {
    await this.#recording.settled();
  }

  clearFixtures(): this {
    this.#pool.clear();
    return this;
  }

  get fixtures(): readonly Fixture[] {
    return this.#pool.list();
  }

  /** The next call fails, and only that one. */
  nextRequestError(
    status: number,
    error: Partial<Omit<ApiErrorFields, "status">> = {},
    options: { testId?: string } = {},
  ): this {
    this.#errors.queue({ message: "Injected error", ...error, status }, options.testId);
    return this;
  }

  /** The calls so far, oldest first. */
  calls(filter?: JournalFilter): JournalEntry[] {
    return this.#journal.read(filter);
  }

  lastCall(): JournalEntry | undefined {
    return this.#journal.last();
  }

  clearCalls(): this {
    this.#journal.clear();
    return this;
  }

  /** Sequences begin anew; fixtures stay. */
  resetCounts(testId?: string): this {
    this.#counters.reset(testId);
    this.#stamps.reset(testId);
    return this;
  }

  #fixtureOptions(): FixtureAnswererOptions {
    const recording = this.#recording;
    return {
      defaults: timingOf(this.#options),
      identifier: recording.identifier,
      get repeat() {
        return recording.repeat;
      },
    };
  }

  /** As new: no fixtures, no counts, no journal, no errors to come. */
  reset(): this {
    this.#errors.clear();
    this.#memory.clear();
    return this.clearFixtures().resetCounts().clearCalls();
  }
}

function timingOf(options: StuntDoubleOptions): Timing {
  const { latency: latencyMs, chunkSize, replaySpeed } = options;
  return {
    ...(latencyMs !== undefined && { latencyMs }),
    ...(chunkSize !== undefined && { chunkSize }),
    ...(replaySpeed !== undefined && { replaySpeed }),
  };
}
