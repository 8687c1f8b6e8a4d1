import type { Duplex } from "node:stream";
import type { Dispatcher } from "undici";
import { type HeaderList, headerList, replyHeaders } from "./headers.ts";

/** How long an upstream is waited for, in milliseconds; 0 is for ever. */
export interface UpstreamTimeouts {
  connectMs: number;
  /** From the request to the head of the reply. */
  headersMs: number;
  /** Between two pieces of the body. */
  idleMs: number;
}

export interface UpstreamRequest {
  origin: string;
  path: string;
  method: string;
  headers: HeaderList;
  body: Uint8Array | undefined;
}

/** What becomes of a request, in this order: `head`, `data` any number of times, then `end`, or at any time `fail`. */
export interface UpstreamEvents {
  head(status: number, headers: HeaderList): void;
  data(chunk: Uint8Array): void;
  end(): void;
  fail(error: Error): void;
}

/** What becomes of a request for another protocol: it is spoken from then on, or the request is answered as others are. */
export interface UpgradeEvents extends UpstreamEvents {
  /** @param headers all of them, those about the connection too */
  upgraded(headers: HeaderList, socket: Duplex): void;
}

/** A request that is under way. */
export interface UpstreamCall {
  pause(): void;
  resume(): void;
  /** Ends it; `fail` is told, unless it is over already. */
  abort(): void;
}

/**
 * Calls providers: HTTP/1.1 and HTTP/2, kept connections, proxies from `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`.
 * Nothing is followed, decompressed or sent again: that is the client's business.
 */
export class UpstreamClient {
  readonly #dispatcher: Dispatcher;

  private constructor(dispatcher: Dispatcher) {
    this.#dispatcher = dispatcher;
  }

  /**
   * Loads undici, which plain serving never needs.
   * @param allowH2 a connection for HTTP/2 changes to no other protocol
   */
  static async load(timeouts: UpstreamTimeouts, allowH2 = true): Promise<UpstreamClient> {
    const { Agent, EnvHttpProxyAgent, Pool } = await import("undici");
    const options = {
      connect: { timeout: timeouts.connectMs },
      headersTimeout: timeouts.headersMs,
      bodyTimeout: timeouts.idleMs,
      allowH2,
      // A provider's answer may have as many headers as it likes.
      maxHeaderSize: 64 * 1024,
    };
    const httpProxy = fromEnvironment("HTTP_PROXY");
    const httpsProxy = fromEnvironment("HTTPS_PROXY");
    if (httpProxy === "" && httpsProxy === "") return new UpstreamClient(new Agent(options));
    const { connect } = options;
    const proxied = {
      ...{ httpProxy, httpsProxy, noProxy: fromEnvironment("NO_PROXY") },
      ...{ requestTls: { ...connect, allowH2 }, proxyTls: connect },
      // A proxy is a part of the way: its answer is waited for as a connection is.
      clientFactory: (origin: URL, more: object) => new Pool(origin, { ...more, headersTimeout: timeouts.connectMs }),
    };
    return new UpstreamClient(new EnvHttpProxyAgent({ ...options, ...proxied }));
  }

  send(request: UpstreamRequest, events: UpstreamEvents): UpstreamCall {
    const { origin, path, method, headers, body } = request;
    const call = new DispatchedCall(events);
    this.#dispatcher.dispatch(
      { origin, path, method: method as Dispatcher.HttpMethod, headers, body: body ?? null },
      call,
    );
    return call;
  }

  /** Asks to speak WebSocket. */
  upgrade({ origin, path, headers }: Omit<UpstreamRequest, "method" | "body">, events: UpgradeEvents): UpstreamCall {
    const call = new DispatchedUpgrade(events);
    this.#dispatcher.dispatch({ origin, path, method: "GET", headers, upgrade: "websocket" }, call);
    return call;
  }

  /** Closes the connections that are kept, and breaks what is under way. */
  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

class DispatchedCall implements Dispatcher.DispatchHandler, UpstreamCall {
  readonly #events: UpstreamEvents;
  #controller: Dispatcher.DispatchController | undefined;
  #aborted = false;

  constructor(events: UpstreamEvents) {
    this.#events = events;
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort(new AbortedError());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(new AbortedError());
  }

  onResponseStart(_: unknown, status: number, headers: Parameters<typeof replyHeaders>[0]): void {
    // 100 Continue and 103 Early Hints are between the provider and us.
    if (status >= 200) this.#events.head(status, replyHeaders(headers));
  }

  onResponseData(_: unknown, chunk: Uint8Array): void {
    this.#events.data(chunk);
  }

  onResponseEnd(): void {
    this.#events.end();
  }

  onResponseError(_: unknown, error: Error): void {
    this.#events.fail(error);
  }
}

class DispatchedUpgrade extends DispatchedCall {
  readonly #upgraded: UpgradeEvents["upgraded"];

  constructor(events: UpgradeEvents) {
    super(events);
    this.#upgraded = events.upgraded;
  }

  onRequestUpgrade(_: unknown, _status: number, headers: Parameters<typeof replyHeaders>[0], socket: Duplex): void {
    this.#upgraded(headerList(headers), socket);
  }
}

/** The client went away, so the call upstream was ended. */
export class AbortedError extends Error {
  override readonly name = "AbortedError";
  constructor() {
    super("The call was given up.");
  }
}

/** An empty one is none, so that the other spelling counts. */
function fromEnvironment(name: string): string {
  return process.env[name.toLowerCase()] || process.env[name] || "";
}
