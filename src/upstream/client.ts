import type { Dispatcher } from "undici";

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
  /** Names and values by turns. */
  headers: string[];
  body: Uint8Array | undefined;
}

/** What becomes of a request, in this order: `head`, `data` any number of times, then `end`, or at any time `fail`. */
export interface UpstreamEvents {
  head(status: number, headers: Record<string, string | string[] | undefined>): void;
  data(chunk: Buffer): void;
  end(): void;
  fail(error: Error): void;
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

  /** Loads undici, which plain serving never needs. */
  static async load(timeouts: UpstreamTimeouts): Promise<UpstreamClient> {
    const { Agent, EnvHttpProxyAgent, Pool } = await import("undici");
    const options = {
      connect: { timeout: timeouts.connectMs },
      headersTimeout: timeouts.headersMs,
      bodyTimeout: timeouts.idleMs,
      allowH2: true,
      // A provider's answer may have as many headers as it likes.
      maxHeaderSize: 64 * 1024,
    };
    const httpProxy = fromEnvironment("HTTP_PROXY");
    const httpsProxy = fromEnvironment("HTTPS_PROXY");
    if (httpProxy === "" && httpsProxy === "") return new UpstreamClient(new Agent(options));
    const { connect, allowH2 } = options;
    const proxied = {
      ...{ httpProxy, httpsProxy, noProxy: fromEnvironment("NO_PROXY") },
      ...{ requestTls: { ...connect, allowH2 }, proxyTls: connect },
      // A proxy is a part of the way: its answer is waited for as a connection is.
      clientFactory: (origin: URL, more: object) => new Pool(origin, { ...more, headersTimeout: timeouts.connectMs }),
    };
    return new UpstreamClient(new EnvHttpProxyAgent({ ...options, ...proxied }));
  }

  send(request: UpstreamRequest, events: UpstreamEvents): UpstreamCall {
    let controller: Dispatcher.DispatchController | undefined;
    let aborted = false;
    const { origin, path, method, headers, body } = request;
    this.#dispatcher.dispatch(
      { origin, path, method: method as Dispatcher.HttpMethod, headers, body: body ?? null },
      {
        onRequestStart(started) {
          controller = started;
          if (aborted) started.abort(new AbortedError());
        },
        onResponseStart(_, status, responseHeaders) {
          // 100 Continue and 103 Early Hints are between the provider and us.
          if (status >= 200) events.head(status, responseHeaders);
        },
        onResponseData: (_, chunk) => events.data(chunk),
        onResponseEnd: () => events.end(),
        onResponseError: (_, error) => events.fail(error),
      },
    );
    return {
      pause: () => controller?.pause(),
      resume: () => controller?.resume(),
      abort: () => {
        aborted = true;
        controller?.abort(new AbortedError());
      },
    };
  }

  /** Closes the connections that are kept, and breaks what is under way. */
  async close(): Promise<void> {
    await this.#dispatcher.destroy();
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
