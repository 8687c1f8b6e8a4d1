import { isDeepStrictEqual } from "node:util";
import type { Answer } from "../dialects/answer.ts";
import { ApiError } from "../dialects/api-error.ts";
import type { Call } from "../dialects/operation.ts";
import { type CassetteEntry, type CassetteFolder, occurrenceOf } from "./folder.ts";
import { CassetteError } from "./format.ts";
import type { Place, Placer } from "./identity.ts";
import { nearestText } from "./nearest.ts";
import { type ReplayOptions, TakeReplay } from "./replay.ts";
import type { TraceRoutes } from "./routes.ts";
import { modelName, requestParts } from "./take.ts";
import type { Cassette, Trace } from "./types.ts";

export interface PlayerOptions extends ReplayOptions {
  folder: CassetteFolder;
  placer: Placer;
  routes: TraceRoutes;
  /** What answers once a recorded call comes more often than it was recorded. */
  repeat: "miss" | "last";
  /** Older takes are not replayed. */
  maxAgeMs: number | undefined;
  /** Unix time in milliseconds. */
  wall(): number;
  /** Told of each take that answers. */
  replayed?: (cassette: string, trace: Trace) => void;
}

/** Where a call belongs, and for the how many-th time. */
export interface Placed {
  place: Place;
  occurrence: number;
}

/** Answers calls from cassettes. */
export class CassettePlayer {
  readonly #options: PlayerOptions;
  readonly #counts = new Map<string, number>();
  readonly #placed = new WeakMap<Call["raw"], Placed>();

  constructor(options: PlayerOptions) {
    this.#options = options;
  }

  /** Counts a call the first time that it is asked about. */
  placed(call: Call): Placed {
    let placed = this.#placed.get(call.raw);
    if (placed === undefined) {
      const place = this.#options.placer.placeOf(call);
      const { scenario, invoker, filename, fingerprint } = place;
      const key = JSON.stringify([scenario, invoker, filename, fingerprint]);
      const occurrence = (this.#counts.get(key) ?? 0) + 1;
      this.#counts.set(key, occurrence);
      placed = { place, occurrence };
      this.#placed.set(call.raw, placed);
    }
    return placed;
  }

  /** Sequences begin anew: of one scenario, or of all. */
  reset(scenario?: string): void {
    if (scenario === undefined) this.#counts.clear();
    const own = `[${JSON.stringify(scenario)},`;
    for (const key of this.#counts.keys()) if (key.startsWith(own)) this.#counts.delete(key);
  }

  answer(call: Call): Answer | undefined {
    const { place, occurrence } = this.placed(call);
    let entry: CassetteEntry | undefined;
    try {
      entry = this.#entryOf(call, place, occurrence);
      if (entry === undefined) return undefined;
      const replay = this.#replayOf(entry);
      const answer = replay.answer(call, place.form);
      entry.served++;
      this.#options.replayed?.(entry.name, replay.trace);
      return { ...answer, source: { kind: "cassette", id: entry.name } } as Answer;
    } catch (error) {
      if (!(error instanceof CassetteError)) throw error;
      return {
        kind: "error",
        error: new ApiError({ status: 500, message: error.message, code: "cassette_unusable" }),
        terminal: true,
        source: { kind: "cassette", ...(entry !== undefined && { id: entry.name }) },
      };
    }
  }

  /** Why there was no answer. */
  explain(call: Call): string {
    const { place, occurrence } = this.placed(call);
    const { folder, placer } = this.#options;
    const known = [...folder.recordingsOf(place), ...this.#handwritten(call, place)];
    const scenario = JSON.stringify(place.scenario);
    if (known.length > 0) {
      return `In the scenario ${scenario} this call was recorded ${known.length === 1 ? "once" : `${known.length} times`} (${known.map(({ name }) => name).join(", ")}) and came for the ${ordinal(occurrence)} time. Record it anew, or let the last one answer again (--repeat last).`;
    }
    const entries = folder.scenario(place.scenario);
    if (entries.length === 0) {
      return `There is no cassette of the scenario ${scenario} in ${folder.root}. Record it, or say which one is meant: the header X-VCR-Scenario, a path that begins with /@name/ or --scenario.`;
    }
    const asked = this.#asked(call);
    const recorded = entries.map((entry) => {
      const cassette = folder.read(entry);
      const trace = cassette.traces[cassette.latest_trace_id]!;
      return { name: entry.name, context: trace.request_context, rest: trace.stuntdouble?.request };
    });
    const comparable = placer.comparable({ context: asked.context, rest: asked.rest }) as typeof asked;
    return `None of the ${entries.length} cassettes of the scenario ${scenario} is of this call. ${nearestText(comparable, recorded)}`;
  }

  #asked(call: Call): ReturnType<typeof requestParts> {
    return requestParts(call, "", this.#options.placer.comparable(call.view.model) as string);
  }

  #entryOf(call: Call, place: Place, occurrence: number): CassetteEntry | undefined {
    const { folder, repeat } = this.#options;
    const recordings = folder.recordingsOf(place);
    if (recordings.length > 0) {
      const own = recordings.find((entry) => occurrenceOf(folder.read(entry)) === occurrence);
      return own ?? (repeat === "last" ? recordings.at(-1) : undefined);
    }
    const fiber = folder.fiberOf(place);
    if (fiber !== undefined) return fiber;
    const fitting = this.#handwritten(call, place);
    return fitting[occurrence - 1] ?? (repeat === "last" ? fitting.at(-1) : undefined);
  }

  /** Cassettes without a fingerprint are of the call whose request they hold. */
  #handwritten(call: Call, { scenario }: Place): CassetteEntry[] {
    const { folder, placer } = this.#options;
    const all = folder.anonymousOf(scenario);
    if (all.length === 0) return [];
    const { context } = placer.comparable({ context: this.#asked(call).context }) as ReturnType<typeof requestParts>;
    return all.filter((entry) => {
      const recorded = this.#traceOf(folder.read(entry)).request_context;
      return (
        modelName(recorded.model) === modelName(context.model) &&
        isDeepStrictEqual(placer.comparable(recorded.messages), context.messages)
      );
    });
  }

  #replayOf(entry: CassetteEntry): TakeReplay {
    const prepared = entry.prepared as TakeReplay | undefined;
    if (prepared !== undefined) return prepared;
    const trace = this.#traceOf(this.#options.folder.read(entry));
    this.#checkAge(entry, trace);
    const made = new TakeReplay(trace, this.#options);
    entry.prepared = made;
    return made;
  }

  #traceOf(cassette: Cassette): Trace {
    return cassette.traces[this.#options.routes.of(cassette) ?? cassette.latest_trace_id]!;
  }

  #checkAge({ name }: CassetteEntry, { stuntdouble: extras }: Trace): void {
    const { maxAgeMs, wall } = this.#options;
    const recordedAt = Date.parse(extras?.recorded_at ?? "");
    if (maxAgeMs === undefined || Number.isNaN(recordedAt)) return;
    const ageMs = wall() - recordedAt;
    if (ageMs <= maxAgeMs) return;
    throw new CassetteError(
      `${name} was recorded ${extras?.recorded_at}, ${Math.floor(ageMs / DAY_MS)} days ago, which is more than --max-age allows. Record it anew (--vcr record).`,
    );
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

function ordinal(count: number): string {
  const end = count % 100 >= 11 && count % 100 <= 13 ? "th" : (["th", "st", "nd", "rd"][count % 10] ?? "th");
  return `${count}${end}`;
}
