import type { GuardOptions } from "../guard/options.ts";
import type { GuardHost, Guards } from "./guards.ts";

/** The guard of a double, which loads when it is first needed: a double can answer before it listens. */
export class GuardLink {
  readonly #given: GuardOptions | undefined;
  readonly #host: GuardHost;
  #options: GuardOptions | undefined;
  #guards: Guards | Promise<Guards> | undefined;

  constructor(options: GuardOptions | undefined, host: GuardHost) {
    this.#given = options;
    this.#options = options;
    this.#host = host;
  }

  /**
   * The guard that is in force; undefined for none.
   * @throws {GuardError | RedactionOptionsError} with what is wrong with its options; nothing passes then
   */
  readonly open = (): Guards | Promise<Guards> | undefined => {
    if (this.#guards !== undefined || this.#options === undefined) return this.#guards;
    return this.#load(this.#options);
  };

  /** The loaded one. */
  get current(): Guards | undefined {
    return this.#guards instanceof Promise ? undefined : this.#guards;
  }

  /**
   * Puts another guard in force; nothing has changed when it is refused.
   * @param options those of the start, unless given
   * @param before waits for what has to be done before it is in force
   * @throws {GuardError | RedactionOptionsError} with what is wrong with them
   */
  async use(options: GuardOptions | undefined, before: (guards: Guards) => Promise<void>): Promise<void> {
    const chosen = options ?? this.#given;
    const guards = chosen && (await (await import("./guards.ts")).Guards.load(chosen, this.#host));
    if (guards !== undefined) await before(guards);
    this.#options = chosen;
    this.#guards = guards;
  }

  #load(options: GuardOptions): Promise<Guards> {
    const loading = import("./guards.ts").then(async (loaded) => {
      const guards = await loaded.Guards.load(options, this.#host);
      if (this.#guards === loading) this.#guards = guards;
      return guards;
    });
    this.#guards = loading;
    return loading;
  }
}
