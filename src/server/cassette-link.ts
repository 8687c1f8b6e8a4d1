import type { Answer } from "../dialects/answer.ts";
import type { Call } from "../dialects/operation.ts";
import {
  type CassetteHost,
  type CassetteMode,
  type CassetteOptions,
  checkCassetteOptions,
} from "./cassette-options.ts";
import type { Cassettes } from "./cassettes.ts";

/** The cassettes of a double, which open when they are first needed: it can answer before it listens. */
export class CassetteLink {
  readonly #options: CassetteOptions;
  readonly #host: CassetteHost;
  #open: Cassettes | Promise<Cassettes> | undefined;
  #unused: readonly string[] = [];

  /** @throws {RangeError} when an option has a value that there is not */
  constructor(options: CassetteOptions, host: CassetteHost) {
    checkCassetteOptions(options);
    this.#options = options;
    this.#host = host;
  }

  get mode(): CassetteMode {
    return this.#options.mode;
  }

  /** Whether calls are answered from cassettes at all. */
  get answers(): boolean {
    return this.mode !== "live" && this.mode !== "record";
  }

  /** @throws {CassetteError} when the folder cannot be used */
  readonly open = (): Cassettes | Promise<Cassettes> => {
    this.#open ??= import("./cassettes.ts").then(async (loaded) => {
      const open = await loaded.Cassettes.open(this.#options, this.#host);
      this.#open = open;
      return open;
    });
    return this.#open;
  };

  /** The link of the chain. */
  readonly answer = (call: Call): Answer | undefined | Promise<Answer | undefined> => {
    const open = this.open();
    return open instanceof Promise ? open.then((ready) => ready.answer(call)) : open.answer(call);
  };

  /** The open ones; undefined before the first call. */
  get current(): Cassettes | undefined {
    return this.#open instanceof Promise ? undefined : this.#open;
  }

  /** Of the run that is, or of the last one. */
  get unused(): readonly string[] {
    return this.current?.unused ?? this.#unused;
  }

  /** As `Cassettes.close`; the next call opens the folder anew. */
  async close(): Promise<Error[]> {
    const open = await this.open();
    this.#open = undefined;
    const failures = await open.close();
    this.#unused = open.unused;
    return failures;
  }
}
