import { RawRequest } from "../dialects/raw-request.ts";
import type { Clock } from "../state/clock.ts";
import type { Outcome } from "./engine.ts";
import { pace, type Sink } from "./pace.ts";

/**
 * `fetch` that is answered in this process, without a socket. Any origin will do: only the path counts.
 * Aborting rejects as the platform's own does; a broken connection is a `TypeError`, in mid-stream too.
 */
export function fetchThrough(
  handle: (raw: RawRequest) => Outcome | Promise<Outcome>,
  clock: Clock,
): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const { pathname, search } = new URL(request.url);
    const body = new Uint8Array(await request.arrayBuffer());
    const raw = new RawRequest(request.method, pathname + search, Object.fromEntries(request.headers), body);
    const outcome = await handle(raw);
    request.signal.throwIfAborted();
    return responseOf(outcome, request.signal, clock);
  };
}

function responseOf(outcome: Outcome, signal: AbortSignal, clock: Clock): Response | Promise<Response> {
  const { status, headers, body } = outcome;
  const init = { status, headers };
  if (typeof body === "string" || body instanceof Uint8Array) {
    return new Response(status === 204 ? null : (body as BodyInit), init);
  }
  return new Promise((resolve, reject) => {
    const sink = new WebSink();
    const abort = (): void => sink.fail(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    const response = new Response(sink.stream, init);
    if (outcome.streamed) resolve(response);
    sink.begun = () => resolve(response);
    sink.failed = reject;
    pace(body, sink, clock, (ending) => {
      signal.removeEventListener("abort", abort);
      outcome.ended?.(ending);
    });
  });
}

/** A web stream as a sink: full when its reader has not taken what it was given. */
class WebSink implements Sink {
  readonly stream: ReadableStream<Uint8Array>;
  begun: (() => void) | undefined;
  failed: ((reason: unknown) => void) | undefined;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #drained: (() => void) | undefined;
  #closed: (() => void) | undefined;

  constructor() {
    this.stream = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#drained?.(),
        cancel: () => this.#closed?.(),
      },
      { highWaterMark: HIGH_WATER_MARK, size: (chunk) => chunk?.byteLength ?? 0 },
    );
  }

  write(chunk: string | Uint8Array): boolean {
    this.#controller.enqueue(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    this.begun?.();
    return (this.#controller.desiredSize ?? 0) > 0;
  }

  end(): void {
    this.begun?.();
    this.#controller.close();
  }

  destroy(): void {
    this.fail(new TypeError("terminated"));
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
}

const HIGH_WATER_MARK = 16 * 1024;
