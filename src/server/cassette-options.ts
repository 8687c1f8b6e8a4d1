import { MATCH_MODES, type MatchMode } from "../cassettes/match-mode.ts";
import type { ReplaySpeed } from "../cassettes/replay.ts";
import type { Trace } from "../cassettes/types.ts";
import type { Operation } from "../dialects/operation.ts";
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

/** @throws {RangeError} when `VCR_MODE` is none */
export function modeInEnvironment({ VCR_MODE: text }: NodeJS.ProcessEnv): CassetteMode | undefined {
  if (text === undefined || text === "") return undefined;
  const mode = CASSETTE_MODES.find((known) => known === text.toLowerCase());
  if (mode === undefined) throw new RangeError(`VCR_MODE=${text}: expected one of ${CASSETTE_MODES.join(", ")}.`);
  return mode;
}

/** A pipeline that records would pass on whatever the provider says that day: where `CI` is set, it replays. */
export function modeFor(asked: CassetteMode, { CI: text }: NodeJS.ProcessEnv): CassetteMode {
  const isSet = text !== undefined && text !== "" && text !== "0" && text !== "false";
  return isSet && (asked === "auto" || asked === "once") ? "replay" : asked;
}

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
  /** The run is of `scenario` alone: cassettes of others are neither unused nor removed. */
  alone?: boolean;
  /** A run in which nothing was recorded and nothing replayed is no failure. */
  mayBeIdle?: boolean;
  /** Told of every take that is replayed, and of every one that has been written. */
  onTake?: (take: UsedTake) => void;
}

const OPTION_NAMES = Object.keys({
  mode: true,
  folder: true,
  scenario: true,
  speed: true,
  chaosLatencyMs: true,
  tickMs: true,
  raw: true,
  match: true,
  ignore: true,
  traces: true,
  repeat: true,
  maxAgeMs: true,
  prune: true,
  alone: true,
  mayBeIdle: true,
  onTake: true,
} satisfies Record<keyof CassetteOptions, true>);

/** @throws {RangeError} for a name or a value that is none of those that there are: else only a compiler tells of it */
export function checkCassetteOptions(options: CassetteOptions): void {
  for (const name of Object.keys(options)) {
    if (!OPTION_NAMES.includes(name))
      throw new RangeError(`cassettes.${name}: there is no such option; there are ${OPTION_NAMES.join(", ")}.`);
  }
  const { mode, speed, match, repeat } = options;
  const check = (name: string, value: string | undefined, known: readonly string[]): void => {
    if (value !== undefined && !known.includes(value))
      throw new RangeError(
        `cassettes.${name}: expected one of ${known.join(", ")}, but it is ${JSON.stringify(value)}.`,
      );
  };
  check("mode", mode, CASSETTE_MODES);
  check("match", match, MATCH_MODES);
  check("repeat", repeat, ["miss", "last"]);
  if (speed !== undefined && speed !== "max" && speed !== "real" && !(typeof speed === "number" && speed > 0))
    throw new RangeError(
      `cassettes.speed: expected "max", "real" or a factor above 0, but it is ${JSON.stringify(speed)}.`,
    );
}

export interface UsedTake {
  how: "recorded" | "replayed";
  /** The cassette, from its folder on. */
  cassette: string;
  trace: Trace;
}

/** What a double has recorded and replayed so far. */
export interface CassetteState {
  /** `off` for a double without cassettes. */
  mode: CassetteMode | "off";
  folder?: string;
  recorded: number;
  replayed: number;
  /** By their names in the folder; `served` counts the calls that one has answered, and its own recording. */
  cassettes: readonly { name: string; served: number }[];
}

export const NO_CASSETTES: CassetteState = { mode: "off", recorded: 0, replayed: 0, cassettes: [] };

/** The double that it belongs to. */
export interface CassetteHost {
  clock: Clock;
  operations: readonly Operation[];
  identifier(): Identifier | Promise<Identifier>;
  redactor(): Promise<Redactor>;
  warn(message: string): void;
}

export const DEFAULT_CASSETTES = "./cassettes";
