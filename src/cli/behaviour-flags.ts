import { type Command, InvalidArgumentError, Option } from "commander";
import type { Chaos } from "../fixtures/types.ts";
import type { StuntDoubleOptions } from "../server/options.ts";
import { collect } from "./arguments.ts";

/** What the command line says of how a server behaves around its fixtures. */
export interface BehaviourSettings {
  strict?: true;
  strictTurnIndex?: true;
  metrics?: true;
  metricsCompat?: true;
  rateLimitHeaders?: true;
  journalMax?: number;
  fixtureCountsMax?: number;
  replaySpeed?: number;
  chaosDrop?: number;
  chaosMalformed?: number;
  chaosDisconnect?: number;
  chaosRateLimit?: number;
  chaosRatelimit?: number;
  chaosLatency?: number;
  apiKey?: string[];
}

/** What befalls calls by chance. */
export type ChaosSettings = Pick<
  BehaviourSettings,
  "chaosDrop" | "chaosMalformed" | "chaosRateLimit" | "chaosRatelimit" | "chaosDisconnect" | "chaosLatency"
>;

export function registerChaos(command: Command): Command {
  return command
    .option("--chaos-drop <rate>", "share of calls, from 0 to 1, that are answered 500", within(0, 1))
    .option("--chaos-malformed <rate>", "share that gets broken JSON", within(0, 1))
    .option("--chaos-rate-limit <rate>", "share that is answered 429", within(0, 1))
    .option("--chaos-disconnect <rate>", "share whose connection breaks", within(0, 1))
    .option("--chaos-latency <ms>", "milliseconds before every answer", within(0, 3_600_000));
}

export function registerBehaviour(command: Command): Command {
  return registerChaos(command)
    .option("--strict", "refuse a call that no fixture answers with 503, and pass none on")
    .option("--strict-turn-index", "serve a fixture with turnIndex on that turn only")
    .option("--replay-speed <factor>", "divide every delay: 2 is twice as fast", within(0.001, 1_000_000))
    .option("--metrics", "count calls for Prometheus, at GET /metrics")
    .option("--metrics-compat", "the same, with aimock's names")
    .option("--journal-max <calls>", "calls that the journal keeps (1000)", whole)
    .option("--fixture-counts-max <ids>", "test ids whose counts are kept (500)", whole)
    .addOption(new Option("--chaos-ratelimit <rate>", "aimock's name").argParser(within(0, 1)).hideHelp())
    .option("--rate-limit-headers", "x-ratelimit-… on every reply, not only on 429")
    .option("--api-key <key>", "let in only who sends this key; can be repeated", collect);
}

export function behaviourOptions(settings: BehaviourSettings): StuntDoubleOptions {
  const { metrics, metricsCompat, journalMax, fixtureCountsMax, replaySpeed, apiKey } = settings;
  const chaos = chaosOf(settings);
  return {
    strict: settings.strict ?? false,
    ...(settings.strictTurnIndex && { strictTurnIndex: true }),
    ...((metrics || metricsCompat) && { metrics: true, metricsCompat: metricsCompat ?? false }),
    ...(settings.rateLimitHeaders && { rateLimitHeaders: true }),
    ...(journalMax !== undefined && { journalMaxEntries: journalMax }),
    ...(fixtureCountsMax !== undefined && { fixtureCountsMaxTestIds: fixtureCountsMax }),
    ...(replaySpeed !== undefined && { replaySpeed }),
    ...(chaos !== undefined && { chaos }),
    ...(apiKey !== undefined && { auth: { apiKeys: apiKey } }),
  };
}

export function chaosOf(settings: ChaosSettings): Chaos | undefined {
  const given: Record<keyof Chaos, number | undefined> = {
    dropRate: settings.chaosDrop,
    malformedRate: settings.chaosMalformed,
    rateLimitRate: settings.chaosRateLimit ?? settings.chaosRatelimit,
    disconnectRate: settings.chaosDisconnect,
    latencyMs: settings.chaosLatency,
  };
  const there = Object.entries(given).filter(([, value]) => value !== undefined);
  return there.length === 0 ? undefined : Object.fromEntries(there);
}

function within(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (!(value >= least && value <= most))
      throw new InvalidArgumentError(`Expected a number from ${least} to ${most}.`);
    return value;
  };
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("Expected a whole number.");
  return Number(text);
}
