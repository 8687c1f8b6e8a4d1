import type { Histogram, Metric, Registry } from "prom-client";
import type { RawRequest } from "../dialects/raw-request.ts";
import type { Clock } from "../state/clock.ts";
import type { JournalResponse } from "../state/journal.ts";
import type { Engine } from "./engine.ts";
import type { Outcome } from "./outcome.ts";

export interface MetricsOptions {
  /** aimock's names in the place of ours, for dashboards that know them. */
  compat: boolean;
  clock: Clock;
  /** How many fixtures there are; asked when the metrics are read. */
  fixtures(): number;
}

type Labels = Record<string, string>;

/**
 * Counts calls for Prometheus; each double has counts of its own. They are kept in cells of this class and handed to
 * prom-client when somebody reads them, since its own counters cost more than answering the call.
 */
export class Metrics {
  readonly #registry: Registry;
  readonly #clock: Clock;
  readonly #requests = new Cells();
  readonly #answers = new Cells();
  readonly #chaos = new Cells();
  readonly #durations = new Durations();

  private constructor(client: typeof import("prom-client"), { compat, clock, fixtures }: MetricsOptions) {
    this.#clock = clock;
    this.#registry = new client.Registry();
    const registers = [this.#registry];
    const prefix = compat ? "aimock" : "stuntdouble";
    const counter = (name: string, help: string, labelNames: string[], cells: Cells): void => {
      new client.Counter({
        ...{ name: `${prefix}_${name}`, help, labelNames, registers },
        collect() {
          this.reset();
          cells.each((labels, value) => this.inc(labels, value));
        },
      });
    };
    counter("requests_total", "Calls, by what was answered.", ["method", "path", "status"], this.#requests);
    this.#registry.registerMetric(this.#durations.metric(`${prefix}_request_duration_seconds`));
    counter("answers_total", "Calls, by who answered; miss where nobody did.", ["source"], this.#answers);
    counter(
      "chaos_triggered_total",
      "Faults by chance, and who would have answered.",
      ["action", "source"],
      this.#chaos,
    );
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
    const { method } = raw;
    const path = pathLabel(raw);
    this.#requests.add(`${method} ${path} ${status}`, () => ({ method, path, status: String(status) }));
    this.#answers.add(source, () => ({ source }));
    if (chaosAction === undefined) return;
    this.#chaos.add(`${chaosAction} ${source}`, () => ({ action: chaosAction, source }));
  }

  /** Measures how long a call takes, from now until its reply is over. */
  timed(raw: RawRequest, engine: Engine): Outcome | Promise<Outcome> {
    const start = this.#clock.now();
    const over = (): void => {
      // Paths of the double itself have no route, and neither has what leads nowhere.
      if (raw.route === undefined) return;
      this.#durations.observe(raw.method, pathLabel(raw), (this.#clock.now() - start) / 1000);
    };
    const outcome = engine.handle(raw);
    return outcome instanceof Promise ? outcome.then((late) => whenOver(late, over)) : whenOver(outcome, over);
  }

  async read(): Promise<{ contentType: string; text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }
}

/** Counts by their labels. */
class Cells {
  readonly #cells = new Map<string, { labels: Labels; value: number }>();

  add(key: string, labels: () => Labels): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) this.#cells.set(key, { labels: labels(), value: 1 });
    else cell.value++;
  }

  each(tell: (labels: Labels, value: number) => void): void {
    for (const { labels, value } of this.#cells.values()) tell(labels, value);
  }
}

// prom-client's own, in seconds.
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Durations by method and path. */
class Durations {
  readonly #cells = new Map<string, { labels: Labels; buckets: number[]; sum: number; count: number }>();

  observe(method: string, path: string, seconds: number): void {
    const key = `${method} ${path}`;
    let cell = this.#cells.get(key);
    if (cell === undefined) {
      cell = { labels: { method, path }, buckets: BUCKETS.map(() => 0), sum: 0, count: 0 };
      this.#cells.set(key, cell);
    }
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) cell.buckets[bucket]!++;
    cell.sum += seconds;
    cell.count++;
  }

  /** As a metric of a registry: all it asks of one is its name and `get`. */
  metric(name: string): Metric {
    const get = async (): Promise<unknown> => ({
      name,
      help: "From a call's arrival until the last byte of its reply is sent.",
      type: "histogram",
      aggregator: "sum",
      values: [...this.#cells.values()].flatMap(({ labels, buckets, sum, count }) => {
        let below = 0;
        return [
          ...BUCKETS.map((bound, index) => {
            below += buckets[index]!;
            return { metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: below };
          }),
          { metricName: `${name}_bucket`, labels: { ...labels, le: "+Inf" }, value: count },
          { metricName: `${name}_sum`, labels, value: sum },
          { metricName: `${name}_count`, labels, value: count },
        ];
      }),
    });
    return { name, get } as unknown as Histogram;
  }
}

/** Calls once the reply has been sent, or broken off. */
function whenOver(outcome: Outcome, over: () => void): Outcome {
  const { body } = outcome;
  if (typeof body === "string" || body instanceof Uint8Array) over();
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
