import type { ReplaySpeed } from "../../cassettes/replay.ts";
import type { GuardOptions } from "../../guard/options.ts";
import type { RedactionOptions } from "../../guard/redact.ts";
import type { CassetteOptions, UsedTake } from "../../server/cassette-options.ts";
import { StuntDouble } from "../../server/double.ts";
import type { RecordOptions } from "../../server/recording.ts";
import type { JournalResponse } from "../../state/journal.ts";
import { baseUrlVariables } from "../../testing/base-urls.ts";
import type { RunCall, RunTake, SourceOutcome, TapeSource } from "./tape-source.ts";

export interface HttpSourceOptions {
  cassettes: CassetteOptions & { scenario: string };
  record: RecordOptions;
  guard: GuardOptions | undefined;
  redact: RedactionOptions | undefined;
  warn(message: string): void;
}

/** The model providers' APIs: a double on a free port, whose address all SDKs are given. */
export class HttpSource implements TapeSource {
  readonly #double: StuntDouble;
  readonly #scenario: string;
  readonly #calls: RunCall[] = [];
  readonly #takes: RunTake[] = [];

  constructor({ cassettes, record, guard, redact, warn }: HttpSourceOptions) {
    this.#scenario = cassettes.scenario;
    this.#double = new StuntDouble({
      record,
      ...(guard && { guard }),
      ...(redact && { redact }),
      cassettes: {
        ...cassettes,
        alone: true,
        mayBeIdle: true,
        onTake: (used) => this.#takes.push(takeOf(used, cassettes)),
      },
      journalMaxEntries: 0,
      onWarning: warn,
      onCall: ({ method, path, response }) => this.#calls.push(callOf(`${method} ${withoutScenario(path)}`, response)),
    });
  }

  async start(): Promise<Record<string, string>> {
    await this.#double.start();
    const url = `${this.#double.url}/@${encodeURIComponent(this.#scenario)}`;
    return baseUrlVariables(url);
  }

  async finish(): Promise<SourceOutcome> {
    const lost: string[] = [];
    try {
      await this.#double.stop();
    } catch (error) {
      if (!(error instanceof AggregateError)) throw error;
      lost.push(...error.errors.map(({ message }: Error) => message));
    }
    return { calls: this.#calls, takes: this.#takes, unused: this.#double.unusedCassettes, lost };
  }
}

function withoutScenario(path: string): string {
  return path.replace(/^\/@[^/]*/, "");
}

function callOf(name: string, { source, status, fixture, detail }: JournalResponse): RunCall {
  switch (source) {
    case "cassette":
      return { name, outcome: "replayed", status, ...(fixture !== null && { tape: fixture }) };
    case "upstream":
      return { name, outcome: "recorded", status };
    case "guard":
      return { name, outcome: "blocked", status, ...(detail !== undefined && { detail }) };
    case "miss":
    case "refused":
    case "internal":
      return { name, outcome: "missed", status, ...(detail !== undefined && { detail }) };
    default:
      return { name, outcome: "answered", status };
  }
}

function takeOf({ how, cassette, trace }: UsedTake, options: CassetteOptions): RunTake {
  const { request_context: context, usage, network_metrics: metrics, stuntdouble: extras } = trace;
  const recordedMs = metrics.total_duration_ms;
  return {
    how,
    tape: cassette,
    provider: context.provider,
    model: context.model,
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    cachedTokens: extras?.usage?.cached_tokens ?? 0,
    cacheWriteTokens: extras?.usage?.cache_write_tokens ?? 0,
    recordedMs,
    savedMs: how === "recorded" ? 0 : Math.max(0, recordedMs - waitedMs(recordedMs, options)),
  };
}

/** How long a replay waits where the provider took so long. */
function waitedMs(recordedMs: number, { speed = "max", chaosLatencyMs = 0 }: CassetteOptions): number {
  return chaosLatencyMs + recordedMs / factorOf(speed);
}

function factorOf(speed: ReplaySpeed): number {
  if (speed === "max") return Number.POSITIVE_INFINITY;
  return speed === "real" ? 1 : speed;
}
