import { statSync } from "node:fs";
import { FixtureError, loadFixtures, parseFixtures } from "../../fixtures/load.ts";
import type {
  Chaos,
  Fixture,
  FixtureMatch,
  FixtureOptions,
  FixtureResponder,
  FixtureResponse,
} from "../../fixtures/types.ts";
import { ANY_TEST_ID } from "../../server/one-shot.ts";
import { type Behind, doubleBehind, mountOn, recordOptions } from "./behind.ts";
import type { AimockJournal, JournalEntry } from "./journal.ts";
import type { MockServerOptions, Mountable, RecordConfig } from "./types.ts";

type Response = FixtureResponse | FixtureResponder;

/** aimock's mock server, played by a double: a test that uses it changes its import and nothing else. */
export class LLMock {
  readonly #fixtures: Fixture[] = [];
  readonly #behind: Behind;
  readonly #mounts: { path: string; handler: Mountable }[] = [];

  constructor(options: MockServerOptions = {}) {
    this.#behind = doubleBehind(this.#fixtures, options);
  }

  /** One that listens already. */
  static async create(options?: MockServerOptions): Promise<LLMock> {
    const mock = new LLMock(options);
    await mock.start();
    return mock;
  }

  addFixture(fixture: Fixture): this {
    this.#fixtures.push(fixture);
    return this;
  }

  addFixtures(fixtures: readonly Fixture[]): this {
    for (const fixture of fixtures) this.#fixtures.push(fixture);
    return this;
  }

  /** Puts it before all others. */
  prependFixture(fixture: Fixture): this {
    this.#fixtures.unshift(fixture);
    return this;
  }

  /** The list itself: what is changed in it, the next call sees. */
  getFixtures(): readonly Fixture[] {
    return this.#fixtures;
  }

  /** Empties the list; it stays the same array. */
  clearFixtures(): this {
    this.#fixtures.length = 0;
    return this;
  }

  /** @throws {FixtureError} with every fault of the file */
  loadFixtureFile(path: string): this {
    return this.addFixtures(loadFixtures(path));
  }

  /** @throws {FixtureError} with every fault of every file, or when it is no folder */
  loadFixtureDir(path: string): this {
    const fixtures = loadFixtures(path);
    if (!statSync(path).isDirectory()) {
      throw new FixtureError([{ file: path, pointer: "", message: "it is no folder; use loadFixtureFile" }]);
    }
    return this.addFixtures(fixtures);
  }

  /**
   * @param input the fixtures, or their JSON text: an array, or an object with `fixtures`
   * @throws {FixtureError} with every fault
   */
  addFixturesFromJSON(input: string | readonly Fixture[]): this {
    const text = (typeof input === "string" ? input : JSON.stringify(input)).trim();
    const { fixtures, faults } = parseFixtures(text.startsWith("[") ? `{"fixtures":${text}}` : text, "the given JSON");
    if (faults.length > 0) throw new FixtureError(faults);
    return this.addFixtures(fixtures);
  }

  /** Answers `response` to each request for which all of `match` holds. */
  on(match: FixtureMatch, response: Response, options?: FixtureOptions): this {
    return this.addFixture({ match, response, ...options });
  }

  onMessage(pattern: string | RegExp, response: Response, options?: FixtureOptions): this {
    return this.on({ userMessage: pattern }, response, options);
  }

  onEmbedding(pattern: string | RegExp, response: Response, options?: FixtureOptions): this {
    return this.on({ inputText: pattern }, response, options);
  }

  onJsonOutput(pattern: string | RegExp, json: object | string, options?: FixtureOptions): this {
    const content = typeof json === "string" ? json : JSON.stringify(json);
    return this.on({ userMessage: pattern, responseFormat: "json_object" }, { content }, options);
  }

  onToolCall(name: string, response: Response, options?: FixtureOptions): this {
    return this.on({ toolName: name }, response, options);
  }

  onToolResult(id: string, response: Response, options?: FixtureOptions): this {
    return this.on({ toolCallId: id }, response, options);
  }

  onTurn(turn: number, pattern: string | RegExp, response: Response, options?: FixtureOptions): this {
    return this.on({ userMessage: pattern, turnIndex: turn }, response, options);
  }

  /**
   * The next call fails, whosever it is, and only that one.
   * @throws {RangeError} when the status is not from 400 to 599
   */
  nextRequestError(status: number, error: { message?: string; type?: string; code?: string } = {}): this {
    if (!(Number.isInteger(status) && status >= 400 && status <= 599)) {
      throw new RangeError(`nextRequestError needs a status from 400 to 599, but got ${status}.`);
    }
    this.#behind.double.nextRequestError(status, { type: "server_error", ...error }, { testId: ANY_TEST_ID });
    return this;
  }

  /** @throws {RangeError} when a rate is not from 0 to 1 */
  setChaos(chaos: Chaos): this {
    this.#behind.double.setChaos(chaos);
    return this;
  }

  clearChaos(): this {
    this.#behind.double.clearChaos();
    return this;
  }

  /** From now on, calls that no fixture answers go to their providers, and become fixtures unless `proxyOnly`. */
  enableRecording(config: RecordConfig): this {
    this.#behind.double.enableRecording(recordOptions(config));
    return this;
  }

  disableRecording(): this {
    this.#behind.double.disableRecording();
    return this;
  }

  /** Hands the requests below a path to somebody else, with that path taken off. */
  mount(path: string, handler: Mountable): this {
    mountOn(this.#behind, path, handler);
    this.#mounts.push({ path, handler });
    if (this.#behind.double.isRunning) handler.setBaseUrl?.(this.url + path);
    return this;
  }

  get journal(): AimockJournal {
    return this.#behind.journal;
  }

  /** The calls so far, oldest first. */
  getRequests(): JournalEntry[] {
    return this.journal.getAll();
  }

  getLastRequest(): JournalEntry | null {
    return this.journal.getLast();
  }

  /** Forgets the calls; sequences go on. */
  clearRequests(): void {
    this.journal.clearEntries();
  }

  /** Sequences begin anew; fixtures stay. */
  resetMatchCounts(testId?: string): this {
    this.#behind.double.resetCounts(testId);
    return this;
  }

  /** No fixtures, no counts, no journal, no errors and no chaos to come. */
  reset(): this {
    this.journal.clearEntries();
    this.#behind.double.reset();
    return this;
  }

  /**
   * @returns the URL
   * @throws {Error} when the port is taken, or when it has been started already
   */
  async start(): Promise<string> {
    await this.#behind.double.start();
    for (const { path, handler } of this.#mounts) handler.setBaseUrl?.(this.url + path);
    return this.url;
  }

  async stop(): Promise<void> {
    await this.#behind.double.stop();
  }

  /** @throws {Error} while it is not running; `baseUrl` and `port` too */
  get url(): string {
    return this.#behind.double.url;
  }

  get baseUrl(): string {
    return this.url;
  }

  get port(): number {
    return this.#behind.double.port;
  }
}
