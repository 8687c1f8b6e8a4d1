import type { Counter, Histogram, Metric, Registry } from "prom-client";
import type { ChaosAction } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import { Print } from "../dialects/template.ts";
import type { Clock } from "../state/clock.ts";
import type { JournalResponse } from "../state/journal.ts";
import type { Engine } from "./engine.ts";
import type { GuardCounts } from "./guard-counts.ts";
import type { Outcome } from "./outcome.ts";

export interface MetricsOptions {
  /** aimock's names in the place of ours, for dashboards that know them. */
  compat: boolean;
  clock: Clock;
  /** How many fixtures there are; asked when the metrics are read. */
  fixtures(): number;
  /** What the guard has found and cut; undefined where there is none. */
  guard?(): GuardCounts | undefined;
}

/** All that is kept of the calls with one method to one path. */
class Series {
  readonly labels: { method: string; path: string };
  readonly statuses = new Map<number, number>();
  /** Calls that took no longer than each bucket and longer than the one before. */
  readonly buckets = BUCKETS.map(() => 0);
  seconds = 0;
  timed = 0;

  constructor(method: string, path: string) {
    this.labels = { method, path };
  }

  observe(seconds: number): void {
    let bucket = 0;
    while (bucket < BUCKETS.length && seconds > BUCKETS[bucket]!) bucket++;
    if (bucket < BUCKETS.length) this.buckets[bucket]!++;
    this.seconds += seconds;
    this.timed++;
  }
}

// prom-client's own, in seconds.
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Counts calls for Prometheus; each double has counts of its own. They are kept here and handed to prom-client when
 * somebody reads them, since its own counters cost more than answering the call.
 */
export class Metrics {
  readonly #registry: Registry;
  readonly #clock: Clock;
  /** By path and then by method: no key has to be put together for a call. */
  readonly #series = new Map<string, Map<string, Series>>();
  readonly #answers = new Map<string, number>();
  readonly #chaos = new Map<ChaosAction, Map<string, number>>();

  private constructor(client: typeof import("prom-client"), { compat, clock, fixtures, guard }: MetricsOptions) {
    this.#clock = clock;
    this.#registry = new client.Registry();
    const registers = [this.#registry];
    const prefix = compat ? "aimock" : "stuntdouble";
    const counter = (name: string, help: string, labelNames: string[], fill: (counter: Counter) => void): void => {
      new client.Counter({
        ...{ name: `${prefix}_${name}`, help, labelNames, registers },
        collect() {
          this.reset();
          fill(this);
        },
      });
    };
    counter("requests_total", "Calls, by what was answered.", ["method", "path", "status"], (requests) => {
      for (const { labels, statuses } of this.#all()) {
        for (const [status, count] of statuses) requests.inc({ ...labels, status }, count);
      }
    });
    this.#registry.registerMetric(this.#durations(`${prefix}_request_duration_seconds`));
    counter("answers_total", "Calls, by who answered; miss where nobody did.", ["source"], (answers) => {
      for (const [source, count] of this.#answers) answers.inc({ source }, count);
    });
    const chaosLabels = ["action", "source"];
    counter("chaos_triggered_total", "Faults by chance, and who would have answered.", chaosLabels, (chaos) => {
      for (const [action, sources] of this.#chaos) {
        for (const [source, count] of sources) chaos.inc({ action, source }, count);
      }
    });
    if (guard !== undefined) {
      const findingLabels = ["rule", "action", "detector", "direction"];
      counter("guard_findings_total", "What guardrails have found.", findingLabels, (findings) => {
        for (const { count, ...labels } of guard()?.findings ?? []) findings.inc(labels, count);
      });
      counter("guard_cuts_total", "Calls refused and replies cut, by guardrail or breaker.", ["by"], (cuts) => {
        for (const [by, count] of Object.entries(guard()?.cuts ?? {})) cuts.inc({ by }, count);
      });
    }
    new client.Gauge({
      ...{ name: `${prefix}_fixtures_loaded`, help: "Fixtures that calls are matched with.", registers },
      collect() {
        this.set(fixtures());
      },
    });
  }

  /** Loads what serving without metrics never needs. */
  static async load(options: MetricsOptions): Promise<Metrics> {
    const client = await import("prom-client");
    return new Metrics(client.default ?? client, options);
  }

  /** Counts a call that is answered. */
  count(raw: RawRequest, { status, source, chaosAction }: JournalResponse): void {
    increment(this.#seriesOf(raw).statuses, status);
    increment(this.#answers, source);
    if (chaosAction === undefined) return;
    let sources = this.#chaos.get(chaosAction);
    if (sources === undefined) {
      sources = new Map();
      this.#chaos.set(chaosAction, sources);
    }
    increment(sources, source);
  }

  /** Measures how long a call takes, from now until its reply is over. */
  timed(raw: RawRequest, engine: Engine): Outcome | Promise<Outcome> {
    const start = this.#clock.now();
    const over = (): void => {
      // Paths of the double itself have no route, and neither has what leads nowhere.
      if (raw.route !== undefined) this.#seriesOf(raw).observe((this.#clock.now() - start) / 1000);
    };
    const outcome = engine.handle(raw);
    return outcome instanceof Promise ? outcome.then((late) => whenOver(late, over)) : whenOver(outcome, over);
  }

  async read(): Promise<{ contentType: string; text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  #seriesOf(raw: RawRequest): Series {
    const path = pathLabel(raw);
    let methods = this.#series.get(path);
    if (methods === undefined) {
      methods = new Map();
      this.#series.set(path, methods);
    }
    let series = methods.get(raw.method);
    if (series === undefined) {
      series = new Series(raw.method, path);
      methods.set(raw.method, series);
    }
    return series;
  }

  #all(): Series[] {
    return [...this.#series.values()].flatMap((methods) => [...methods.values()]);
  }

  /** As a metric of a registry: all it asks of one is its name and `get`. */
  #durations(name: string): Metric {
    const get = async (): Promise<unknown> => ({
      name,
      help: "From a call's arrival until the last byte of its reply is sent.",
      type: "histogram",
      aggregator: "sum",
      values: this.#all()
        .filter(({ timed }) => timed > 0)
        .flatMap(({ labels, buckets, seconds, timed }) => {
          let below = 0;
          return [
            ...BUCKETS.map((bound, index) => {
              below += buckets[index]!;
              return { metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: below };
            }),
            { metricName: `${name}_bucket`, labels: { ...labels, le: "+Inf" }, value: timed },
            { metricName: `${name}_sum`, labels, value: seconds },
            { metricName: `${name}_count`, labels, value: timed },
          ];
        }),
    });
    return { name, get } as unknown as Histogram;
  }
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Calls once the reply has been sent, or broken off. */
function whenOver(outcome: Outcome, over: () => void): Outcome {
  const { body } = outcome;
  if (typeof body === "string" || body instanceof Uint8Array || body instanceof Print) over();
  else if ("attach" in body) {
    const { onEnding } = body;
    body.onEnding = (ending) => {
      onEnding?.(ending);
      over();
    };
  } else {
    const { ended } = outcome;
    outcome.ended = (ending) => {
      ended?.(ending);
      over();
    };
  }
  return outcome;
}

/** One for each route, of which there are few. */
const routeLabels = new Map<string, string>();

/**
 * The path as a label: ids and models in it are replaced by their names, since each value of a label is kept for
 * ever. Paths that no route leads to are one.
 */
function pathLabel({ route, path }: RawRequest): string {
  if (route === undefined) return "{other}";
  let label = routeLabels.get(route);
  if (label === undefined) {
    // find-my-way writes a colon of the path itself twice.
    label = route.replace(/::|:(\w+)(?:\([^)]*\))?/g, (_, name?: string) => (name === undefined ? ":" : `{${name}}`));
    routeLabels.set(route, label);
  }
  // A wildcard takes a model with slashes in its name, and then what is asked of it.
  return label.includes("*") ? label.replace("*", () => `{model}/${path.slice(path.lastIndexOf("/") + 1)}`) : label;
}
