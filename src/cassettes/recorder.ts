import type { Exchange } from "../dialects/exchange.ts";
import type { Call } from "../dialects/operation.ts";
import type { Redactor } from "../guard/redact.ts";
import { CassetteFiles } from "./files.ts";
import type { Place } from "./identity.ts";
import { failedTake, type TakeOptions, takeOf } from "./take.ts";
import type { Cassette, Trace } from "./types.ts";

export interface CassetteRecorderOptions {
  folder: string;
  redactor: Redactor;
  /** Of this run: all of its takes have it, so that one id replays the whole run. */
  traceId: string;
  tickMs: number;
  raw: boolean;
  /** Where a call's recording belongs, counted when the call was made. */
  placeOf(call: Call): { place: Place; occurrence: number };
  /** Told of each cassette once it is written. */
  recorded(file: string, cassette: Cassette): void;
  /** Told of what was not written, or not whole. */
  warn(message: string): void;
}

/** Makes takes of calls that went to a provider. */
export class CassetteRecorder {
  readonly #options: CassetteRecorderOptions;
  readonly #files: CassetteFiles;
  readonly #pending = new Set<Promise<void>>();
  /** One for each recording that is lost. */
  readonly failures: Error[] = [];
  written = 0;

  constructor(options: CassetteRecorderOptions) {
    this.#options = options;
    this.#files = new CassetteFiles(options.folder);
  }

  begin(call: Call): { write(exchange: Exchange | Promise<Exchange>): void } {
    const placed = this.#options.placeOf(call);
    return {
      write: (arriving) =>
        this.#keep(call, placed, async (options) => {
          const exchange = await arriving;
          const trace = takeOf(exchange, options);
          const { ending } = trace.stuntdouble ?? {};
          if (ending !== undefined) {
            this.#options.warn(
              `The recording of ${call.raw.method} ${call.raw.path} is not whole: ${trace.exception_boundary.message} Replayed, it breaks off there too.`,
            );
          }
          return trace;
        }),
    };
  }

  /** Keeps a call to which no answer began. */
  failed(
    call: Call,
    provider: string,
    failure: { type: string; message: string; sentAtMs: number; totalMs: number },
  ): void {
    const placed = this.#options.placeOf(call);
    this.#keep(call, placed, async (options) => failedTake(call, provider, failure, options));
  }

  /** When all that has been begun is written, or has failed. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  #keep(
    call: Call,
    { place, occurrence }: { place: Place; occurrence: number },
    make: (options: TakeOptions) => Promise<Trace>,
  ): void {
    const { redactor, traceId, tickMs, raw, recorded } = this.#options;
    const redaction = redactor.call();
    const writing = make({ traceId, form: place.form, redaction, tickMs, raw })
      .then(async (trace) => {
        const title = redaction.text(call.view.userMessage ?? call.view.inputText ?? call.raw.path, "title");
        const { file, cassette } = await this.#files.write({ place, occurrence, title, trace });
        this.written++;
        recorded(file, cassette);
      })
      .catch((error: unknown) => this.#lost(call, error))
      .finally(() => this.#pending.delete(writing));
    this.#pending.add(writing);
  }

  #lost({ raw }: Call, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const failure = new Error(`The recording of ${raw.method} ${raw.path} could not be written: ${reason}`, {
      cause: error,
    });
    this.failures.push(failure);
    this.#options.warn(failure.message);
  }
}
