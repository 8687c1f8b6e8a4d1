import type { Answer } from "../dialects/answer.ts";
import { ApiError } from "../dialects/api-error.ts";
import type { Call } from "../dialects/operation.ts";
import type { GateCut } from "../guard/gate.ts";
import type { Clock } from "../state/clock.ts";
import { AbortedError, type UpstreamCall } from "./client.ts";
import type { ReplyEvents, ReplyTime } from "./guarded-reply.ts";
import type { HeaderList } from "./headers.ts";
import { RelayedBody, type Source } from "./relayed-body.ts";
import { Tap, type TapeMaker } from "./tap.ts";
import type { Target } from "./target.ts";

interface RelayedOptions {
  clock: Clock;
  bufferLimit: number;
  unreachable: "error" | "break";
}

/** A call on its way: what its provider answers goes to the client, and a copy to the tape. */
export class RelayedCall implements ReplyEvents, ReplyTime, Source {
  /** Set once it has been sent. */
  upstream: UpstreamCall | undefined;
  /** There as soon as the head of the reply is. */
  readonly answer: Promise<Answer>;
  readonly #options: RelayedOptions;
  readonly #call: Call;
  readonly #target: Target;
  readonly #tapes: TapeMaker | undefined;
  readonly #sentHeaders: HeaderList;
  /** On the clock. */
  readonly #sent: number;
  readonly #sentAtMs: number;
  #resolve!: (answer: Answer) => void;
  #body: RelayedBody | undefined;
  #tap: Tap | undefined;

  /** @param sentHeaders those that it is sent with */
  constructor(
    options: RelayedOptions,
    call: Call,
    target: Target,
    sentHeaders: HeaderList,
    tapes: TapeMaker | undefined,
  ) {
    const { clock } = options;
    this.#options = options;
    this.#call = call;
    this.#target = target;
    this.#tapes = tapes;
    this.#sentHeaders = sentHeaders;
    this.#sent = clock.now();
    this.#sentAtMs = clock.wall();
    this.answer = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    call.raw.gone = () => this.abort();
  }

  head(status: number, headers: HeaderList): void {
    const [call, { provider }] = [this.#call, this.#target];
    call.raw.gone = undefined;
    const body = new RelayedBody(this);
    this.#body = body;
    // It is over although its connection may not say so yet, and giving it up is no reason to end the call.
    if (call.raw.method === "HEAD") body.finish("end");
    this.#resolve({ kind: "live", reply: { status, headers, body }, source: { kind: "upstream", id: provider } });
    if (this.#tapes !== undefined) {
      const { clock, bufferLimit } = this.#options;
      this.#tap = new Tap(
        clock,
        bufferLimit,
        { call, sentHeaders: this.#sentHeaders, provider, sentAtMs: this.#sentAtMs, status, headers },
        this.#sent,
      );
      this.#tap.tape = this.#tapes.begin(call, provider);
    }
  }

  data(chunk: Uint8Array): void {
    this.#tap?.add(chunk);
    this.#body?.push(chunk);
  }

  end(): void {
    this.#body?.finish("end");
    this.#tap?.finish("complete");
  }

  cut({ by, type, message, error }: GateCut, event: Uint8Array | undefined): void {
    this.abort();
    const body = this.#body;
    if (body === undefined) {
      this.#failed(type, message);
      this.#resolve({ kind: "error", error, terminal: true, source: { kind: "guard", id: by } });
      return;
    }
    if (event !== undefined) this.data(event);
    body.finish(event === undefined ? "broken" : "end", by);
    this.#tap?.finish(event === undefined ? "cut" : "complete", { type, message });
  }

  fail(error: Error): void {
    const body = this.#body;
    if (body !== undefined) {
      body.finish("broken");
      this.#tap?.finish(isOurs(error) ? "cut" : "truncated");
      return;
    }
    const { provider, origin } = this.#target;
    const answer = refusal(error, provider, origin);
    if (error instanceof AbortedError) this.#call.raw.gone = undefined;
    else this.#failed(answer.error.status === 504 ? "TimeoutError" : "ConnectionError", answer.error.message);
    if (this.#options.unreachable === "error") this.#resolve(answer);
    else this.#resolve({ kind: "disconnect", cause: error, source: answer.source });
  }

  pause(): void {
    this.upstream?.pause();
  }

  resume(): void {
    this.upstream?.resume();
  }

  abort(): void {
    this.upstream?.abort();
  }

  elapsed(): number {
    return this.#options.clock.now() - this.#sent;
  }

  at(atMs: number, run: () => void): () => void {
    return this.#options.clock.at(this.#sent + atMs, run);
  }

  /** No reply began. */
  #failed(type: string, message: string): void {
    this.#call.raw.gone = undefined;
    const failure = { type, message, sentAtMs: this.#sentAtMs, totalMs: this.elapsed() };
    this.#tapes?.failed?.(this.#call, this.#target.provider, failure);
  }
}

/** It was not the provider who broke off: the client went, or the double stops. */
function isOurs(error: Error): boolean {
  return error instanceof AbortedError || (error as NodeJS.ErrnoException).code === "UND_ERR_DESTROYED";
}

function refusal(error: Error, provider: string, origin: string): Refusal {
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case "UND_ERR_CONNECT_TIMEOUT":
      return failure(504, `${provider} at ${origin} took no connection in time.`, "upstream_timeout");
    case "UND_ERR_HEADERS_TIMEOUT":
      return failure(
        504,
        `${provider} at ${origin} began no answer in time (--upstream-timeout-ms).`,
        "upstream_timeout",
      );
    case "ENOTFOUND":
      return failure(
        502,
        `There is no host ${origin} for ${provider} (ENOTFOUND). Is --provider-${provider} right?`,
        "upstream_unreachable",
      );
    default: {
      const reason = (error.message || code || error.name).replace(/\.$/, "");
      const help = /certificate|CERT/.test(`${reason} ${code}`)
        ? " An authority of your own is named in NODE_EXTRA_CA_CERTS."
        : "";
      return failure(502, `${provider} at ${origin} gave no answer: ${reason}.${help}`, "upstream_unreachable");
    }
  }
}

type Refusal = Extract<Answer, { kind: "error" }>;

/** What a caller is told of a provider that gave no answer. */
export function failure(status: number, message: string, code: string): Refusal {
  const error = new ApiError({ status, message, type: "upstream_error", code });
  return { kind: "error", error, terminal: true, source: { kind: "upstream" } };
}
