import type { Answer } from "../dialects/answer.ts";
import { httpOperation } from "../dialects/http.ts";
import type { Call } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import type { Clock } from "../state/clock.ts";
import { type UpgradeEvents, type UpstreamCall, UpstreamClient, type UpstreamTimeouts } from "./client.ts";
import { DECODABLE } from "./decode.ts";
import { GuardedReply, type ReplyGuard } from "./guarded-reply.ts";
import { keyFromEnvironment, requestHeaders } from "./headers.ts";
import { failure, RelayedCall } from "./relayed-call.ts";
import type { TapeMaker } from "./tap.ts";
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
  #webSockets: Promise<UpstreamClient> | undefined;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /**
   * Never rejects: what goes wrong before there is a reply is an error in the caller's own shape.
   * @param tapes makes the tape; nothing is kept without it
   */
  relay(call: Call, tapes: TapeMaker | undefined): Promise<Answer> {
    let target: Target;
    try {
      target = targetOf(call, this.#options.urls);
    } catch (error) {
      if (!(error instanceof NoUpstreamError)) throw error;
      return Promise.resolve(failure(502, error.message, "no_upstream"));
    }
    if (this.#client !== undefined) return this.#send(this.#client, call, target, tapes);
    this.#loading ??= UpstreamClient.load(this.#options.timeouts).then((client) => {
      this.#client = client;
      return client;
    });
    return this.#loading.then((client) => this.#send(client, call, target, tapes));
  }

  /**
   * Asks the provider to speak WebSocket. What it says then is nobody's business here.
   * @throws {NoUpstreamError}
   */
  async webSocket(raw: RawRequest, events: UpgradeEvents): Promise<UpstreamCall> {
    const { provider, origin, path } = targetOf({ raw, operation: httpOperation }, this.#options.urls);
    this.#webSockets ??= UpstreamClient.load(this.#options.timeouts, false);
    const client = await this.#webSockets;
    return client.upgrade({ origin, path, headers: requestHeaders(raw, provider, this.#key(provider)) }, events);
  }

  /** Breaks what is under way and closes the connections that are kept. */
  async close(): Promise<void> {
    const clients = await Promise.all([this.#loading, this.#webSockets]);
    this.#client = undefined;
    this.#loading = undefined;
    this.#webSockets = undefined;
    await Promise.all(clients.map((client) => client?.close()));
  }

  #key(provider: string): string | undefined {
    return this.#options.keys?.get(provider) ?? this.#environmentKey(provider);
  }

  /** The environment is asked once for each provider: it is slow, and does not change. */
  #environmentKey(provider: string): string | undefined {
    if (!this.#environmentKeys.has(provider)) this.#environmentKeys.set(provider, keyFromEnvironment(provider));
    return this.#environmentKeys.get(provider);
  }

  #send(client: UpstreamClient, call: Call, target: Target, tapes: TapeMaker | undefined): Promise<Answer> {
    const { raw } = call;
    const { provider, origin, path } = target;
    const key = this.#key(provider);
    const guard = this.#options.guard?.(call, provider);
    const headers = requestHeaders(raw, provider, key, readableCodings(guard, tapes));
    const relayed = new RelayedCall(this.#options, call, target, headers, tapes);
    relayed.upstream = client.send(
      {
        origin,
        path: key === undefined ? path : withoutPlaceholder(path),
        method: raw.method,
        headers,
        body: raw.body.byteLength === 0 ? undefined : raw.body,
      },
      guard === undefined ? relayed : new GuardedReply(guard, relayed, relayed),
    );
    return relayed.answer;
  }
}

/** What comes back has to be read: by a guard as it comes, by a tape at its end. */
function readableCodings(guard: ReplyGuard | undefined, tapes: TapeMaker | undefined): ReadonlySet<string> | undefined {
  if (guard !== undefined) return NO_CODINGS;
  return tapes === undefined ? undefined : DECODABLE;
}

const NO_CODINGS: ReadonlySet<string> = new Set();

/** A placeholder key in the query would win over the one in the header. */
function withoutPlaceholder(path: string): string {
  return path.replace(/([?&])key=(?:sk-aimock-|sk-stuntdouble-)[^&#]*(&|$)/, (_, before: string, after: string) =>
    after === "&" ? before : "",
  );
}
