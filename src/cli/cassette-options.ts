import { type Command, InvalidArgumentError, Option } from "commander";
import { MATCH_MODES, type MatchMode } from "../cassettes/match-mode.ts";
import type { ReplaySpeed } from "../cassettes/replay.ts";
import type { Repeat } from "../fixtures/select.ts";
import {
  CASSETTE_MODES,
  type CassetteMode,
  type CassetteOptions,
  modeFor,
  modeInEnvironment,
} from "../server/cassette-options.ts";
import { durationMs, oneOf } from "./arguments.ts";

/** What the command line says of cassettes. */
export interface CassetteFlags {
  vcr?: CassetteMode;
  cassettes?: string;
  scenario?: string;
  vcrSpeed?: ReplaySpeed;
  vcrChaos?: number;
  vcrTick?: number;
  vcrTraces?: string;
  traces?: string;
  raw?: boolean;
  match?: MatchMode;
  maxAge?: number;
  prune?: true;
}

export function cassetteOptions(command: Command): Command {
  return tapeOptions(
    command.option(
      "--vcr <mode>",
      `what cassettes do: ${CASSETTE_MODES.join(", ")} (VCR_MODE; none unless given)`,
      oneOf(CASSETTE_MODES),
    ),
  );
}

/** The same for commands whose name says the mode. */
export function tapeOptions(command: Command): Command {
  return command
    .option("--cassettes <folder>", "where the cassettes are (./cassettes)")
    .option("--scenario <name>", "of calls that name none (auto)")
    .option("--vcr-speed <speed>", "max, real, or a factor such as 2 (max)", speed)
    .option("--vcr-chaos <ms>", "milliseconds before every replayed answer", whole)
    .option("--vcr-tick <ms>", "text within so many milliseconds is one frame (100); 0 keeps every piece", whole)
    .option("--traces <list>", "scenario:id,id… of takes to replay in place of the latest ones")
    .addOption(new Option("--vcr-traces <list>", "Fiber's name").hideHelp())
    .option("--no-raw", "record the timeline alone, without what the provider sent (VCR_INCLUDE_RAW=0)")
    .option("--match <how>", `tell calls apart by ${MATCH_MODES.join(", ")} (exact)`, oneOf(MATCH_MODES))
    .option("--max-age <duration>", "older recordings fail (such as 720h)", durationMs)
    .option("--prune", "at the end, remove cassettes that nobody asked for");
}

/**
 * @param environment `VCR_MODE`, `VCR_INCLUDE_RAW` and `CI` count where no flag is given
 * @param say told when the mode is another one than was asked for
 * @returns undefined where cassettes are not used
 */
export function cassetteSettings(
  flags: CassetteFlags & { ignore?: string[]; repeat?: Repeat },
  environment: NodeJS.ProcessEnv,
  say: (message: string) => void,
): CassetteOptions | undefined {
  const asked = flags.vcr ?? askedInEnvironment(environment);
  if (asked === undefined) return undefined;
  const mode = modeFor(asked, environment);
  if (mode !== asked) say(`CI is set: cassettes are replayed (${asked} records only where CI is not set).`);
  const { cassettes, scenario, vcrSpeed, vcrChaos, vcrTick, match, maxAge, ignore, repeat } = flags;
  const traces = flags.traces ?? flags.vcrTraces;
  const raw =
    flags.raw !== false && environment["VCR_INCLUDE_RAW"] !== "0" && environment["VCR_INCLUDE_RAW"] !== "false";
  return {
    mode,
    raw,
    ...(cassettes !== undefined && { folder: cassettes }),
    ...(scenario !== undefined && { scenario }),
    ...(vcrSpeed !== undefined && { speed: vcrSpeed }),
    ...(vcrChaos !== undefined && { chaosLatencyMs: vcrChaos }),
    ...(vcrTick !== undefined && { tickMs: vcrTick }),
    ...(traces !== undefined && { traces }),
    ...(match !== undefined && { match }),
    ...(ignore !== undefined && { ignore }),
    ...((repeat === "last" || repeat === "miss") && { repeat }),
    ...(maxAge !== undefined && { maxAgeMs: maxAge }),
    ...(flags.prune && { prune: true }),
  };
}

function askedInEnvironment(environment: NodeJS.ProcessEnv): CassetteMode | undefined {
  try {
    return modeInEnvironment(environment);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function speed(text: string): ReplaySpeed {
  if (text === "max" || text === "real") return text;
  const factor = Number(text);
  if (text.trim() === "" || !(factor > 0 && factor <= 1_000_000)) {
    throw new InvalidArgumentError("Expected max, real, or a factor above 0 such as 2 for twice as fast.");
  }
  return factor;
}

function whole(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError("Expected a whole number of milliseconds.");
  return Number(text);
}
