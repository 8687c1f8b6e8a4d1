import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { CassetteFolder } from "../cassettes/folder.ts";
import { CassetteError } from "../cassettes/format.ts";
import { DEFAULT_SCENARIO, type MatchMode, Placer } from "../cassettes/identity.ts";
import { CassettePlayer } from "../cassettes/player.ts";
import { CassetteRecorder } from "../cassettes/recorder.ts";
import type { ReplaySpeed } from "../cassettes/replay.ts";
import { TraceRoutes } from "../cassettes/routes.ts";
import { folderSettings, keepSettings } from "../cassettes/settings.ts";
import { DEFAULT_TICK_MS } from "../cassettes/timeline.ts";
import type { Answer } from "../dialects/answer.ts";
import type { Call, Operation } from "../dialects/operation.ts";
import type { Identifier } from "../fixtures/identity.ts";
import type { Redactor } from "../guard/redact.ts";
import type { Clock } from "../state/clock.ts";

/**
 * - `live`: the provider answers, and nothing is recorded
 * - `record`: the provider answers, and every call becomes a take
 * - `replay`: cassettes answer, and nothing goes to the network
 * - `auto`: cassettes answer what they hold, and the rest is recorded
 * - `once`: as `record` for a scenario without cassettes, as `replay` for one with
 */
export type CassetteMode = "live" | "record" | "replay" | "auto" | "once";

export const CASSETTE_MODES: readonly CassetteMode[] = ["live", "record", "replay", "auto", "once"];

export interface CassetteOptions {
  mode: CassetteMode;
  /** `./cassettes` unless given. */
  folder?: string;
  /** Of calls that name none; `auto` unless given. */
  scenario?: string;
  /** `max` unless given: nothing is waited for. */
  speed?: ReplaySpeed;
  /** An extra wait before anything is sent, in milliseconds. */
  chaosLatencyMs?: number;
  /** Text deltas within so many milliseconds become one frame; 100 unless given, and 0 keeps them all. */
  tickMs?: number;
  /** Whether what the provider sent is kept; it is unless said otherwise. */
  raw?: boolean;
  /** How calls are told apart, in place of what the folder keeps. */
  match?: MatchMode;
  /** What of a request says nothing about it: JSON Pointers into the body, and patterns. */
  ignore?: readonly string[];
  /** `scenario:id,id…` of takes that are replayed in place of the latest ones. */
  traces?: string;
  /** What answers a call that comes more often than it was recorded: nothing unless given. */
  repeat?: "miss" | "last";
  /** Takes that are older are not replayed. */
  maxAgeMs?: number;
  /** Cassettes that nobody asked for are removed at the end. */
  prune?: boolean;
}

/** The double that it belongs to. */
export interface CassetteHost {
  clock: Clock;
  operations: readonly Operation[];
  identifier(): Identifier | Promise<Identifier>;
  redactor(): Promise<Redactor>;
  warn(message: string): void;
}

export const DEFAULT_CASSETTES = "./cassettes";

/** Records calls into cassettes and answers from them. */
export class Cassettes {
  readonly mode: CassetteMode;
  readonly root: string;
  readonly #player: CassettePlayer;
  readonly #recorder: CassetteRecorder;
  readonly #folder: CassetteFolder;
  readonly #prune: boolean;
  /** Scenarios that were recorded before this run, as far as they have been asked for. */
  readonly #recordedBefore = new Map<string, boolean>();

  /** @throws {CassetteError} when the folder cannot be used */
  static async open(options: CassetteOptions, host: CassetteHost): Promise<Cassettes> {
    const [identifier, redactor] = await Promise.all([host.identifier(), host.redactor()]);
    return new Cassettes(options, host, identifier, redactor);
  }

  private constructor(options: CassetteOptions, host: CassetteHost, identifier: Identifier, redactor: Redactor) {
    const { clock, operations, warn } = host;
    const { mode, folder: root = DEFAULT_CASSETTES, match, ignore } = options;
    this.mode = mode;
    this.root = root;
    this.#prune = options.prune ?? false;
    const settings = folderSettings(root, { ...(match && { match }), ...(ignore?.length && { ignore }) });
    if (mode !== "live" && mode !== "replay") keepSettings(root, settings);
    const folder = new CassetteFolder(root);
    this.#folder = folder;
    const routes = new TraceRoutes(options.traces);
    for (const id of routes.unknown(folder)) warn(`--traces: no cassette in ${root} holds the take ${id}.`);
    const scenario = options.scenario ?? DEFAULT_SCENARIO;
    this.#player = new CassettePlayer({
      folder,
      placer: new Placer({ identifier, redactor, ...settings, scenario }),
      routes,
      speed: options.speed ?? "max",
      chaosLatencyMs: options.chaosLatencyMs ?? 0,
      finishWords: finishWords(operations),
      repeat: options.repeat ?? "miss",
      maxAgeMs: options.maxAgeMs,
      wall: () => clock.wall(),
    });
    this.#recorder = new CassetteRecorder({
      folder: root,
      redactor,
      traceId: randomBytes(16).toString("hex"),
      tickMs: options.tickMs ?? DEFAULT_TICK_MS,
      raw: options.raw ?? true,
      placeOf: (call) => this.#player.placed(call),
      recorded: (file, cassette) => {
        folder.add(file, cassette).served++;
      },
      warn,
    });
  }

  /** Whether a call may go to its provider. */
  passes(call: Call): boolean {
    return this.mode !== "replay" && !(this.mode === "once" && this.#wasRecorded(call));
  }

  /** The link of the chain; undefined where the provider is to answer. */
  answer(call: Call): Answer | undefined {
    if (this.mode === "live" || this.mode === "record") return undefined;
    if (this.mode === "once" && !this.#wasRecorded(call)) return undefined;
    return this.#player.answer(call);
  }

  /** Makes the take of a call that goes to its provider. */
  get tapes(): CassetteRecorder | undefined {
    return this.mode === "live" || this.mode === "replay" ? undefined : this.#recorder;
  }

  /** Why a call was not answered. */
  explain(call: Call): string {
    return this.#player.explain(call);
  }

  reset(): void {
    this.#player.reset();
  }

  get recorded(): number {
    return this.#recorder.written;
  }

  get replayed(): number {
    return this.#folder.entries.reduce((sum, { served }) => sum + served, 0) - this.recorded;
  }

  /** Names of the cassettes that nobody has asked for. */
  get unused(): string[] {
    return this.#folder.entries.filter(({ served }) => served === 0).map(({ name }) => name);
  }

  async settled(): Promise<void> {
    await this.#recorder.settled();
  }

  /**
   * Waits until everything is written.
   * @returns why recordings were lost, and that nothing happened where nothing did
   */
  async close(): Promise<Error[]> {
    await this.settled();
    const failures = [...this.#recorder.failures];
    const idle = this.mode !== "live" && this.recorded === 0 && this.replayed === 0;
    if (idle && failures.length === 0) {
      failures.push(
        new CassetteError(
          `Nothing was recorded and nothing replayed (${this.root}, mode ${this.mode}). Does the application call this double?`,
        ),
      );
    }
    // A run that used nothing would remove everything.
    if (this.#prune && !idle) for (const { file, served } of this.#folder.entries) if (served === 0) rmSync(file);
    return failures;
  }

  #wasRecorded(call: Call): boolean {
    const { scenario } = this.#player.placed(call).place;
    let before = this.#recordedBefore.get(scenario);
    if (before === undefined) {
      before = this.#folder.scenario(scenario).length > 0;
      this.#recordedBefore.set(scenario, before);
    }
    return before;
  }
}

/** The words of all providers for why they stopped, and ours. */
function finishWords(operations: readonly Operation[]): Record<string, string> {
  return Object.assign({}, ...operations.map(({ rules }) => rules?.finishReasons)) as Record<string, string>;
}

/** The cassettes of a double, which open when they are first needed: it can answer before it listens. */
export class CassetteLink {
  readonly #options: CassetteOptions;
  readonly #host: CassetteHost;
  #open: Cassettes | Promise<Cassettes> | undefined;
  #unused: readonly string[] = [];

  constructor(options: CassetteOptions, host: CassetteHost) {
    this.#options = options;
    this.#host = host;
  }

  get mode(): CassetteMode {
    return this.#options.mode;
  }

  /** @throws {CassetteError} when the folder cannot be used */
  readonly open = (): Cassettes | Promise<Cassettes> => {
    this.#open ??= Cassettes.open(this.#options, this.#host).then((open) => {
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
