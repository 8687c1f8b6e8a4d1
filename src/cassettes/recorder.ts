import type { Exchange } from "../dialects/exchange.ts";
import type { Call } from "../dialects/operation.ts";
import { PendingRecordings } from "../fixtures/pending-recordings.ts";
import { checkName, redactionOf } from "../fixtures/recorded-exchange.ts";
import type { Redactor } from "../guard/redact.ts";
import { CassetteFiles } from "./files.ts";
import type { Placed } from "./player.ts";
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
  placeOf(call: Call): Placed;
  /** Told of each cassette once it is written. */
  recorded(file: string, cassette: Cassette): void;
  /** Told of what was not written, or not whole. */
  warn(message: string): void;
}

/** Makes takes of calls that went to a provider. */
export class CassetteRecorder {
  readonly #options: CassetteRecorderOptions;
  readonly #files: CassetteFiles;
  readonly #pending: PendingRecordings;
  written = 0;

  constructor(options: CassetteRecorderOptions) {
    this.#options = options;
    this.#files = new CassetteFiles(options.folder);
    this.#pending = new PendingRecordings(options);
  }

  /** One for each recording that is lost. */
  get failures(): readonly Error[] {
    return this.#pending.failures;
  }

  /** Never throws: the call's client waits for the reply that begins now. */
  begin(call: Call): { write(exchange: Exchange | Promise<Exchange>): void } {
    const placed = this.#placed(call);
    return {
      write: (arriving) => this.#keep(call, placed, arriving, (exchange, options) => this.#take(exchange, options)),
    };
  }

  /** Keeps a call to which no answer began. */
  failed(
    call: Call,
    provider: string,
    failure: { type: string; message: string; sentAtMs: number; totalMs: number },
  ): void {
    this.#keep(call, this.#placed(call), call, (_, options) => failedTake(call, provider, failure, options));
  }

  /** When all that has been begun is written, or has failed. */
  async settled(): Promise<void> {
    await this.#pending.settled();
  }

  /** Undefined for a call that cannot be recorded. */
  #placed(call: Call): Placed | undefined {
    try {
      return this.#options.placeOf(call);
    } catch (error) {
      this.#pending.lost(call.raw, error);
      return undefined;
    }
  }

  #take(exchange: Exchange, options: TakeOptions): Trace {
    const trace = takeOf(exchange, options);
    if (trace.stuntdouble?.ending !== undefined) {
      this.#options.warn(
        `The recording of ${this.#pending.nameOf(exchange.raw)} is not whole: ${trace.exception_boundary.message} Replayed, it breaks off there too.`,
      );
    }
    return trace;
  }

  #keep<Known extends Pick<Exchange, "raw">>(
    call: Call,
    placed: Placed | undefined,
    arriving: Known | Promise<Known>,
    take: (known: Known, options: TakeOptions) => Trace,
  ): void {
    if (placed !== undefined) this.#pending.add(call.raw, this.#write(call, placed, arriving, take));
  }

  async #write<Known extends Pick<Exchange, "raw">>(
    { raw: request, view }: Call,
    { place, occurrence }: Placed,
    arriving: Known | Promise<Known>,
    take: (known: Known, options: TakeOptions) => Trace,
  ): Promise<void> {
    const { redactor, traceId, tickMs, raw, recorded } = this.#options;
    const known = await arriving;
    const redaction = redactionOf(redactor, known);
    checkName(redaction, "scenario", place.scenario);
    checkName(redaction, "file name", place.filename);
    // As it was sent: in the name that it has in the tape, an address is none any more.
    checkName(redaction, "invoker", request.header("x-vcr-invoker"));
    const trace = take(known, { traceId, form: place.form, redaction, tickMs, raw });
    const title = redaction.text(view.userMessage ?? view.inputText ?? request.path, "title");
    const { file, cassette } = await this.#files.write({ place, occurrence, title, trace });
    this.written++;
    recorded(file, cassette);
  }
}
