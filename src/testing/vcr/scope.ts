import { beyondNetworkBlock, checkNetworkBlock, type NetworkBlockOptions } from "../../guard/network-block.ts";
import { type CassetteMode, modeFor, modeInEnvironment } from "../../server/cassette-options.ts";
import { StuntDouble } from "../../server/double.ts";
import { VcrError } from "./errors.ts";
import { CaughtHosts } from "./hosts.ts";
import type { VcrOptions } from "./options.ts";

/** A call that has been caught. */
export interface CaughtCall {
  url: URL;
  method: string;
  headers: Headers;
  body: Uint8Array | FormData | undefined;
  signal: AbortSignal;
}

/** The scope that a call made here belongs to. */
export type FindScope = () => VcrScope | undefined;

/** Calls that are answered together from the cassettes of one scenario, or recorded into them. */
export class VcrScope implements AsyncDisposable {
  readonly name: string;
  readonly mode: CassetteMode;
  /** What answers: its journal has the calls, and fixtures that are added to it are asked first. */
  readonly double: StuntDouble;
  readonly #options: VcrOptions;
  readonly #hosts: CaughtHosts;
  readonly #onClose: () => void;
  #closed = false;

  /**
   * @param onClose told once nothing more is caught
   * @throws {RangeError} when `VCR_MODE` is no mode, a host on a list or a base URL is none, or an option has a value
   * that there is not
   */
  constructor(name: string, options: VcrOptions, onClose: () => void) {
    const {
      mode,
      providers = {},
      unknown,
      network,
      allowMiss,
      allowUnused,
      allowEmpty,
      double,
      ...cassettes
    } = options;
    if (name === "") throw new RangeError("A scenario needs a name: it is the folder of its cassettes.");
    this.name = name;
    this.mode = modeFor(mode ?? modeInEnvironment(process.env) ?? "auto", process.env);
    if (unknown !== undefined && unknown !== "pass" && unknown !== "block")
      throw new RangeError(`unknown: expected "pass" or "block", but it is ${JSON.stringify(unknown)}.`);
    this.#options = options;
    this.#hosts = new CaughtHosts(providers);
    if (this.blocks !== undefined) checkNetworkBlock(this.blocks);
    this.#onClose = onClose;
    this.double = new StuntDouble({
      ...double,
      record: { ...double?.record, providers: { ...double?.record?.providers, ...providers }, unreachable: "break" },
      cassettes: { ...cassettes, mode: this.mode, scenario: name, alone: true, mayBeIdle: true },
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether a call to this address is answered here. */
  catches(url: URL): boolean {
    return !this.#closed && this.#hosts.pathOf(url) !== undefined;
  }

  /**
   * Answers a call that it catches.
   * @throws {unknown} the signal's reason when it is aborted, and a `TypeError` when the connection breaks
   */
  answer({ url, method, headers, body, signal }: CaughtCall): Promise<Response> {
    const asked = new Headers(headers);
    asked.set("host", url.host);
    const init: RequestInit = { method, headers: asked, signal, ...(body !== undefined && { body: body as BodyInit }) };
    // What records has to reach the provider, whatever the application may not.
    return beyondNetworkBlock(() => this.double.fetch(`${url.origin}${this.#hosts.pathOf(url)}`, init));
  }

  /** What is refused while it lasts; undefined where all passes. */
  get blocks(): NetworkBlockOptions | undefined {
    const { unknown = this.mode === "replay" ? "block" : "pass", network = {} } = this.#options;
    return unknown === "block" ? network : undefined;
  }

  /**
   * Ends it, when everything is written.
   * @param failure that what it was for ended with
   * @throws {VcrError} when a call had no tape, when a tape had no call, when there was no call, or when a recording is
   * lost; with `failure` as its cause
   */
  async close(failure?: { error: unknown }): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClose();
    const faults: string[] = [];
    if (!this.#options.allowMiss) faults.push(...this.#misses());
    try {
      await this.double.stop();
    } catch (error) {
      faults.push((error as Error).message);
    }
    // What failed has not come to its end, so that calls are missing for that reason alone.
    if (failure === undefined) faults.push(...this.#unfinished());
    if (faults.length === 0) return;
    const said = failure === undefined ? "" : `\nIt failed with ${String(failure.error)}`;
    throw new VcrError(
      `The scenario ${JSON.stringify(this.name)} (${this.mode}) did not go as recorded.\n${faults.join("\n")}${said}`,
      failure && { cause: failure.error },
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #misses(): string[] {
    try {
      this.double.assertNoMisses();
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  }

  #unfinished(): string[] {
    const { served, missed } = this.double.summary;
    if (this.mode !== "live" && !this.#options.allowEmpty && served + missed === 0) {
      return ["No call was made to any provider. (allowEmpty: true lets that pass.)"];
    }
    const unused = this.mode === "replay" && !this.#options.allowUnused ? this.double.unusedCassettes : [];
    if (unused.length === 0) return [];
    const names = unused.map((name) => `  ${name}`).join("\n");
    return [`Nobody asked for these cassettes (allowUnused: true lets that pass):\n${names}`];
  }
}
