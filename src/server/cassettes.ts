import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { type CassetteEntry, CassetteFolder } from "../cassettes/folder.ts";
import { CassetteError } from "../cassettes/format.ts";
import { DEFAULT_SCENARIO, Placer } from "../cassettes/identity.ts";
import { CassettePlayer } from "../cassettes/player.ts";
import { CassetteRecorder } from "../cassettes/recorder.ts";
import { TraceRoutes } from "../cassettes/routes.ts";
import { folderSettings, keepSettings } from "../cassettes/settings.ts";
import { DEFAULT_TICK_MS } from "../cassettes/timeline.ts";
import type { Answer } from "../dialects/answer.ts";
import type { Call, Operation } from "../dialects/operation.ts";
import type { Identifier } from "../fixtures/identity.ts";
import type { Redactor } from "../guard/redact.ts";
import {
  type CassetteHost,
  type CassetteMode,
  type CassetteOptions,
  type CassetteState,
  DEFAULT_CASSETTES,
} from "./cassette-options.ts";

/** Records calls into cassettes and answers from them. */
export class Cassettes {
  readonly mode: CassetteMode;
  readonly root: string;
  readonly #player: CassettePlayer;
  readonly #recorder: CassetteRecorder;
  readonly #folder: CassetteFolder;
  readonly #prune: boolean;
  readonly #mayBeIdle: boolean;
  /** The only scenario whose cassettes can be unused. */
  readonly #alone: string | undefined;
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
    this.#mayBeIdle = options.mayBeIdle ?? false;
    const folder = new CassetteFolder(root);
    this.#folder = folder;
    const given = { ...(match && { match }), ...(ignore?.length && { ignore }) };
    const settings = folderSettings(root, given, folder.recorded);
    if (mode !== "live" && mode !== "replay") keepSettings(root, settings);
    const routes = new TraceRoutes(options.traces);
    for (const id of routes.unknown(folder)) warn(`--traces: no cassette in ${root} holds the take ${id}.`);
    const { scenario = DEFAULT_SCENARIO, onTake } = options;
    this.#alone = options.alone ? scenario : undefined;
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
      ...(onTake && { replayed: (cassette, trace) => onTake({ how: "replayed", cassette, trace }) }),
    });
    this.#recorder = new CassetteRecorder({
      folder: root,
      redactor,
      traceId: randomBytes(16).toString("hex"),
      tickMs: options.tickMs ?? DEFAULT_TICK_MS,
      raw: options.raw ?? true,
      placeOf: (call) => this.#player.placed(call),
      recorded: (file, cassette) => {
        const entry = folder.add(file, cassette);
        entry.served++;
        onTake?.({ how: "recorded", cassette: entry.name, trace: cassette.traces[cassette.latest_trace_id]! });
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

  /** @param scenario of which sequences begin anew; all of them without one */
  reset(scenario?: string): void {
    this.#player.reset(scenario);
  }

  get state(): CassetteState {
    const cassettes = this.#folder.entries.map(({ name, served }) => ({ name, served }));
    return { mode: this.mode, folder: this.root, recorded: this.recorded, replayed: this.replayed, cassettes };
  }

  get recorded(): number {
    return this.#recorder.written;
  }

  get replayed(): number {
    return this.#folder.entries.reduce((sum, { served }) => sum + served, 0) - this.recorded;
  }

  get #unused(): CassetteEntry[] {
    const alone = this.#alone;
    return this.#folder.entries.filter(
      (entry) => entry.served === 0 && (alone === undefined || this.#folder.isIn(entry, alone)),
    );
  }

  /** Names of the cassettes that nobody has asked for. */
  get unused(): string[] {
    return this.#unused.map(({ name }) => name);
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
    if (idle && !this.#mayBeIdle && failures.length === 0) {
      failures.push(
        new CassetteError(
          `Nothing was recorded and nothing replayed (${this.root}, mode ${this.mode}). Does the application call this double?`,
        ),
      );
    }
    // A run that used nothing would remove everything.
    if (this.#prune && !idle) for (const { file } of this.#unused) rmSync(file);
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
