import { STATUS_CODES } from "node:http";
import { RawRequest } from "../dialects/raw-request.ts";
import { Print } from "../dialects/template.ts";
import type { Clock } from "../state/clock.ts";
import type { Sink } from "../transport/live.ts";
import type { Outcome } from "./outcome.ts";
import { pace } from "./pace.ts";

/**
 * `fetch` that is answered in this process, without a socket. Any origin will do: only the path counts.
 * Aborting rejects as the platform's own does; a broken connection is a `TypeError`, in mid-stream too.
 */
export function fetchThrough(
  handle: (raw: RawRequest) => Outcome | Promise<Outcome>,
  clock: Clock,
): typeof globalThis.fetch {
  return async (input, init) => {
    const { raw, signal } = plainRequest(input, init) ?? (await anyRequest(new Request(input, init)));
    signal?.throwIfAborted();
    const give = (): void => raw.gone?.();
    signal?.addEventListener("abort", give, { once: true });
    const outcome = await handle(raw);
    signal?.removeEventListener("abort", give);
    if (signal?.aborted && typeof outcome.body === "object" && "attach" in outcome.body) outcome.body.cancel();
    signal?.throwIfAborted();
    // The connection broke before there was a status.
    if (outcome.status === 0) throw new TypeError("terminated", { cause: outcome.cause });
    return responseOf(outcome, raw, signal, clock);
  };
}

interface Asked {
  raw: RawRequest;
  signal: AbortSignal | undefined;
}

async function anyRequest(request: Request): Promise<Asked> {
  request.signal.throwIfAborted();
  const { pathname, search } = new URL(request.url);
  const body = new Uint8Array(await request.arrayBuffer());
  const headers = Object.fromEntries(request.headers);
  return { raw: new RawRequest(request.method, pathname + search, headers, body), signal: request.signal };
}

/** The platform's `Request` would cost more than the whole answer; what all SDKs send can do without one. */
function plainRequest(input: Parameters<typeof fetch>[0], init: RequestInit = {}): Asked | undefined {
  const { method = "GET", body, headers: given, signal } = init;
  const sends = typeof body === "string" || body instanceof Uint8Array;
  const isPlain = sends ? method.toUpperCase() === "POST" : method === "GET" && (body === undefined || body === null);
  if (!isPlain || input instanceof Request) return;
  const url = new URL(input);
  if (url.username !== "" || url.password !== "") return;
  const fields = new Headers(given);
  if (typeof body === "string" && !fields.has("content-type")) fields.set("content-type", "text/plain;charset=UTF-8");
  // A copy, since what was handed in may change.
  const bytes = sends ? Buffer.from(body as string) : new Uint8Array();
  const raw = new RawRequest(sends ? "POST" : "GET", url.pathname + url.search, Object.fromEntries(fields), bytes);
  return { raw, signal: signal ?? undefined };
}

function responseOf(
  outcome: Outcome,
  { method }: RawRequest,
  signal: AbortSignal | undefined,
  clock: Clock,
): Response | Promise<Response> {
  const { status, headers, body } = outcome;
  const isBare = method === "HEAD" || WITHOUT_BODY.has(status);
  outcome.sent?.();
  const init: ResponseInit = { status, statusText: STATUS_CODES[status] ?? "", headers: pairs(headers) };
  if (typeof body === "string" || body instanceof Uint8Array || body instanceof Print) {
    const whole = body instanceof Print ? body.bytes() : body;
    return new Response(isBare ? null : (whole as BodyInit), init);
  }
  return new Promise((resolve, reject) => {
    const sink = new WebSink();
    const abort = (): void => sink.fail(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    const response = new Response(isBare ? null : sink.stream, init);
    if (outcome.streamed) resolve(response);
    sink.begun = () => resolve(response);
    sink.failed = reject;
    if ("attach" in body) {
      body.attach(sink);
      return;
    }
    pace(body, sink, clock, (ending) => {
      signal?.removeEventListener("abort", abort);
      outcome.ended?.(ending);
    });
  });
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * A web stream as a sink: full when its reader has not taken what it was given. It keeps a queue of its own, since
 * a web stream that is put in error throws away what it holds, and a connection that breaks does not.
 */
class WebSink implements Sink {
  readonly stream: ReadableStream<Uint8Array>;
  begun: (() => void) | undefined;
  failed: ((reason: unknown) => void) | undefined;
  readonly #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #wanted = false;
  #finish: (() => void) | undefined;
  #drained: (() => void) | undefined;
  #closed: (() => void) | undefined;

  constructor() {
    this.stream = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#give(),
        cancel: () => this.#closed?.(),
      },
      { highWaterMark: 0 },
    );
  }

  write(chunk: string | Uint8Array): boolean {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.byteLength;
    this.begun?.();
    if (this.#wanted) this.#give();
    return this.#queuedBytes < HIGH_WATER_MARK;
  }

  end(): void {
    this.begun?.();
    this.#finishWith(() => this.#controller.close());
  }

  destroy(): void {
    const reason = new TypeError("terminated");
    this.failed?.(reason);
    // One turn later, so that its reader has what came before the break.
    this.#finishWith(() => setImmediate(() => this.#controller.error(reason)));
  }

  /** Ends the stream, or the call if it has not begun, with an error. */
  fail(reason: unknown): void {
    this.#closed?.();
    this.failed?.(reason);
    this.#controller.error(reason);
  }

  onDrain(run: () => void): void {
    this.#drained = run;
  }

  onClose(run: () => void): void {
    this.#closed = run;
  }

  #give(): void {
    const chunk = this.#queue.shift();
    this.#wanted = chunk === undefined;
    if (chunk !== undefined) {
      this.#queuedBytes -= chunk.byteLength;
      this.#controller.enqueue(chunk);
    }
    if (this.#queue.length === 0) {
      this.#finish?.();
      if (chunk !== undefined) this.#drained?.();
    }
  }

  #finishWith(finish: () => void): void {
    if (this.#queue.length === 0) finish();
    else this.#finish = finish;
  }
}

const HIGH_WATER_MARK = 16 * 1024;

function pairs(list: readonly string[]): [string, string][] {
  const result: [string, string][] = [];
  for (let index = 0; index < list.length; index += 2) result.push([list[index]!, list[index + 1]!]);
  return result;
}
