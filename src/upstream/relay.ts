import type { Answer } from "../dialects/answer.ts";
import { ApiError } from "../dialects/api-error.ts";
import type { Call } from "../dialects/operation.ts";
import type { Clock } from "../state/clock.ts";
import { AbortedError, type UpstreamCall, UpstreamClient, type UpstreamTimeouts } from "./client.ts";
import { GuardedReply, type ReplyEvents, type ReplyGuard } from "./guarded-reply.ts";
import { keyFromEnvironment, replyHeaders, requestHeaders } from "./headers.ts";
import { RelayedBody } from "./relayed-body.ts";
import { Tap, type TapeMaker } from "./tap.ts";
import { NoUpstreamError, type Target, targetOf } from "./target.ts";

export interface RelayOptions {
  /** Base URLs by provider, over the known ones. */
  urls: ReadonlyMap<string, string>;
  timeouts: UpstreamTimeouts;
  /** Bytes of a reply's body that are kept for the tape; what is beyond it reaches the client alone. */
  bufferLimit: number;
  clock: Clock;
  /** What a caller sees of a provider that cannot be reached: an error of ours, or a connection that breaks. */
  unreachable: "error" | "break";
  /** Keys by provider, over those of the environment. */
  keys?: ReadonlyMap<string, string>;
  /** What replies go through before they are passed on and kept. */
  guard?(call: Call, provider: string): ReplyGuard | undefined;
}

/** Passes calls on to providers, and what they answer back as it arrives, with a copy for a tape. */
export class Relay {
  readonly #options: RelayOptions;
  readonly #environmentKeys = new Map<string, string | undefined>();
  #client: UpstreamClient | undefined;
  #loading: Promise<UpstreamClient> | undefined;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /**
   * Never rejects: what goes wrong before there is a reply is an error in the caller's own shape.
   * @param tapes makes the tape; nothing is kept without it
   */
  async relay(call: Call, tapes: TapeMaker | undefined): Promise<Answer> {
    let target: Target;
    try {
      target = targetOf(call, this.#options.urls);
    } catch (error) {
      if (!(error instanceof NoUpstreamError)) throw error;
      return failure(502, error.message, "no_upstream");
    }
    this.#loading ??= UpstreamClient.load(this.#options.timeouts);
    this.#client ??= await this.#loading;
    return this.#send(this.#client, call, target, tapes);
  }

  /** Breaks what is under way and closes the connections that are kept. */
  async close(): Promise<void> {
    const client = this.#client ?? (await this.#loading);
    this.#client = undefined;
    this.#loading = undefined;
    await client?.close();
  }

  /** The environment is asked once for each provider: it is slow, and does not change. */
  #environmentKey(provider: string): string | undefined {
    if (!this.#environmentKeys.has(provider)) this.#environmentKeys.set(provider, keyFromEnvironment(provider));
    return this.#environmentKeys.get(provider);
  }

  #send(client: UpstreamClient, call: Call, target: Target, tapes: TapeMaker | undefined): Promise<Answer> {
    const { raw } = call;
    const { clock, keys, bufferLimit } = this.#options;
    const { provider, origin, path } = target;
    const key = keys?.get(provider) ?? this.#environmentKey(provider);
    const sent = clock.now();
    const wall = clock.wall();
    const guard = this.#options.guard?.(call, provider);
    const headers = requestHeaders(raw, provider, key);
    return new Promise((resolve) => {
      let body: RelayedBody | undefined;
      let tap: Tap | undefined;
      const events: ReplyEvents = {
        head: (status, headers) => {
          raw.gone = undefined;
          body = new RelayedBody({
            pause: () => upstream.pause(),
            resume: () => upstream.resume(),
            abort: () => upstream.abort(),
          });
          if (tapes !== undefined) {
            tap = new Tap(clock, bufferLimit, { call, provider, sentAtMs: wall, status, headers }, sent);
            tap.tape = tapes.begin(call, provider);
          }
          resolve({
            kind: "live",
            reply: { status, headers: headers.flat(), body },
            source: { kind: "upstream", id: provider },
          });
        },
        data: (chunk) => {
          tap?.add(chunk);
          body?.push(chunk);
        },
        end: () => {
          body?.finish("end");
          tap?.finish("complete");
        },
        cut: ({ by, type, message, error }, event) => {
          upstream.abort();
          if (body === undefined) {
            raw.gone = undefined;
            tapes?.failed?.(call, provider, { type, message, sentAtMs: wall, totalMs: clock.now() - sent });
            return resolve({ kind: "error", error, terminal: true, source: { kind: "guard", id: by } });
          }
          if (event !== undefined) events.data(event);
          body.finish(event === undefined ? "broken" : "end", by);
          tap?.finish(event === undefined ? "cut" : "complete", { type, message });
        },
        fail: (error) => {
          raw.gone = undefined;
          if (body === undefined) {
            const answer = refusal(error, provider, origin);
            if (!(error instanceof AbortedError)) {
              const type = answer.error.status === 504 ? "TimeoutError" : "ConnectionError";
              const failure = { type, message: answer.error.message, sentAtMs: wall, totalMs: clock.now() - sent };
              tapes?.failed?.(call, provider, failure);
            }
            if (this.#options.unreachable === "error") return resolve(answer);
            return resolve({ kind: "disconnect", cause: error, source: answer.source });
          }
          body.finish("broken");
          tap?.finish(isOurs(error) ? "cut" : "truncated");
        },
      };
      const upstream: UpstreamCall = client.send(
        {
          origin,
          path: key === undefined ? path : withoutPlaceholder(path),
          method: raw.method,
          headers: guard === undefined ? headers : readable(headers),
          body: raw.body.byteLength === 0 ? undefined : raw.body,
        },
        guard === undefined
          ? { ...events, head: (status, fields) => events.head(status, replyHeaders(fields)) }
          : new GuardedReply(
              guard,
              events,
              () => clock.now() - sent,
              (atMs, run) => clock.at(sent + atMs, run),
            ),
      );
      raw.gone = () => upstream.abort();
    });
  }
}

/** It was not the provider who broke off: the client went, or the double stops. */
function isOurs(error: Error): boolean {
  return error instanceof AbortedError || (error as NodeJS.ErrnoException).code === "UND_ERR_DESTROYED";
}

/** A guard has to read what comes back. */
function readable(headers: readonly string[]): string[] {
  const others = headers.filter((_, index) => headers[index - (index % 2)]!.toLowerCase() !== "accept-encoding");
  return [...others, "accept-encoding", "identity"];
}

/** A placeholder key in the query would win over the one in the header. */
function withoutPlaceholder(path: string): string {
  return path.replace(/([?&])key=(?:sk-aimock-|sk-stuntdouble-)[^&#]*(&|$)/, (_, before: string, after: string) =>
    after === "&" ? before : "",
  );
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

function failure(status: number, message: string, code: string): Refusal {
  const error = new ApiError({ status, message, type: "upstream_error", code });
  return { kind: "error", error, terminal: true, source: { kind: "upstream" } };
}
