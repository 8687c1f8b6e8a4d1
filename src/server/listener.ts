import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Http2Server, Http2ServerRequest, ServerHttp2Session } from "node:http2";
import { createRequire } from "node:module";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ApiError } from "../dialects/api-error.ts";
import { encodeOpenAIError } from "../dialects/openai-chat/errors.ts";
import { RawRequest } from "../dialects/raw-request.ts";
import type { Clock } from "../state/clock.ts";
import { type BodyFault, type NodeRequest, readBody } from "./body.ts";
import type { ForwardProxy } from "./forward-proxy.ts";
import type { Outcome } from "./outcome.ts";
import { type NodeResponse, respond } from "./respond.ts";

export interface ListenerOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  tls?: { key: string | Buffer; cert: string | Buffer };
  /** Bytes of a request body, before and after decompression. */
  bodyLimit: number;
  /** For the head of a request to arrive, HTTP/2's first one included. */
  headersTimeoutMs: number;
  /** A connection without a request is closed after so long. */
  idleTimeoutMs: number;
  clock: Clock;
  /** For applications whose HTTP proxy this is. */
  proxy?: ForwardProxy;
  handle(raw: RawRequest): Outcome | Promise<Outcome>;
  /**
   * Asked before a request's body is read. When it returns true the request is taken, and is handled here after all
   * only if `otherwise` is called.
   */
  intercept?(request: NodeRequest, response: NodeResponse, otherwise: Otherwise): boolean;
  webSocket?: {
    /** The reply to one on a connection that is for other calls too. */
    refuse(raw: RawRequest): Outcome;
    /** Takes one on a connection that was opened for the proxy. */
    pass(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  };
  refuse(raw: RawRequest, fault: BodyFault | { status: 500; message: string }): Outcome;
}

/** How a request is handled that nobody has taken. */
export type Otherwise = (request: NodeRequest, response: NodeResponse) => void;

// Loaded when the first client speaks HTTP/2 or TLS: they cost a start more than all else together.
const load = createRequire(import.meta.url);

const PREFACE = "PRI * HTTP/2.0";

/**
 * One port for HTTP/1.1 and HTTP/2, told apart by a connection's first bytes. The server that listens is Node's
 * HTTP/1.1 server, so its time limits on requests hold; an HTTP/2 server that never listens gets its connections
 * from here and its limits too.
 */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #peeked = new Set<Socket>();
  /** Those on which clients asked to be connected with a host: they have left Node's server, which closes them no more. */
  readonly #connected = new Set<Duplex>();
  /** Never listens: it is given the connections on which a client asks for a WebSocket. */
  #webSockets: Server | undefined;
  #http2: Http2Server | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const settings = {
      headersTimeout: options.headersTimeoutMs,
      keepAliveTimeout: options.idleTimeoutMs,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: Math.min(CHECKING_INTERVAL_MS, options.headersTimeoutMs),
      noDelay: true,
    };
    if (options.tls === undefined) this.#server = createServer(settings);
    else {
      const https = load("node:https") as typeof import("node:https");
      this.#server = https.createServer({ ...settings, ...options.tls, ALPNProtocols: ["h2", "http/1.1"] });
    }
    const event = options.tls === undefined ? "connection" : "secureConnection";
    const [speakHttp1] = this.#server.listeners(event) as ((socket: Socket) => void)[];
    this.#server.removeAllListeners(event);
    const http1 = speakHttp1!.bind(this.#server);
    this.#server.on(event, (socket: Socket) => this.#peek(socket, http1));
    this.#server.on("request", this.#onRequest);
    this.#server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
      // A body that is too long anyway is refused before it is sent.
      if (Number(request.headers["content-length"] ?? 0) <= options.bodyLimit) response.writeContinue();
      this.#onRequest(request, response);
    });
    this.#server.on("clientError", refuseBroken);
    const { proxy } = options;
    if (proxy !== undefined) {
      const accept = (socket: Socket): void => this.#peek(socket, http1, true);
      this.#server.on("connect", (request, socket, head) => {
        this.#connected.add(socket);
        socket.on("close", () => this.#connected.delete(socket));
        proxy.tunnel(request, socket, head, accept);
      });
    }
  }

  /** Node's own, for who has to hand it on. */
  get server(): Server {
    return this.#server;
  }

  /**
   * @returns the port
   * @throws {Error} with `code` EADDRINUSE, EACCES, EADDRNOTAVAIL …
   */
  listen(): Promise<number> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host, port, backlog: BACKLOG }, () => {
        this.#server.removeListener("error", reject);
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Takes no new connection, lets the calls that are under way end, and then closes what is left. */
  async stop(graceMs: number): Promise<void> {
    const { clock } = this.#options;
    const end = clock.now() + graceMs;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#peeked) socket.destroy();
    for (const session of this.#sessions) session.close();
    let cancel: () => void = () => {};
    const closeIdle = (): void => {
      this.#server.closeIdleConnections();
      const now = clock.now();
      cancel = now < end ? clock.at(Math.min(end, now + DRAIN_INTERVAL_MS), closeIdle) : () => {};
      if (now >= end) this.#closeAll();
    };
    closeIdle();
    await closed;
    cancel();
  }

  #closeAll(): void {
    for (const session of this.#sessions) session.destroy();
    this.#server.closeAllConnections();
    for (const socket of this.#connected) socket.destroy();
  }

  /** @param opened for the proxy: there, a WebSocket's first request is told apart too */
  #peek(socket: Socket, speakHttp1: (socket: Socket) => void, opened = false): void {
    this.#peeked.add(socket);
    // Nobody else watches the connection until it has said something.
    const expire = (): void => void socket.destroy();
    socket.setTimeout(this.#options.headersTimeoutMs, expire);
    socket.on("error", expire);
    const { clock, headersTimeoutMs } = this.#options;
    // A head that trickles in must not hold its connection for ever.
    const cancel = opened ? clock.at(clock.now() + headersTimeoutMs, expire) : ignore;
    const forget = (): void => {
      cancel();
      this.#peeked.delete(socket);
      socket.removeListener("data", look);
      socket.removeListener("end", expire);
      socket.removeListener("close", forget);
    };
    let seen: Buffer | undefined;
    const look = (chunk: Buffer): void => {
      seen = seen === undefined ? chunk : Buffer.concat([seen, chunk]);
      const start = seen.toString("latin1", 0, PREFACE.length);
      if (start.length < PREFACE.length && PREFACE.startsWith(start)) return;
      const isHttp1 = start !== PREFACE;
      if (isHttp1 && opened && !hasHead(seen)) return;
      forget();
      socket.setTimeout(0);
      socket.removeListener("timeout", expire);
      socket.pause();
      socket.unshift(seen);
      // An HTTP/2 session takes what was read before it; data that flowed by then would be lost to it.
      if (!isHttp1) {
        this.#speakHttp2(socket);
        return;
      }
      if (opened && this.#options.webSocket !== undefined && isWebSocket(seen)) this.#speakWebSocket(socket);
      else speakHttp1(socket);
      socket.resume();
    };
    socket.on("data", look);
    socket.on("end", expire);
    socket.on("close", forget);
  }

  #speakHttp2(socket: Socket): void {
    if (this.#http2 === undefined) {
      const { createServer: createHttp2Server } = load("node:http2") as typeof import("node:http2");
      this.#http2 = createHttp2Server();
      this.#http2.on("session", (session) => this.#watch(session));
      this.#http2.on("request", (request, response) => this.#onRequest(request, response as unknown as NodeResponse));
      // A client that gives up a stream with NO_ERROR, as Node's own does, leaves it half open for ever. A break
      // of ours looks the same, so its reset goes out first.
      this.#http2.on("stream", (stream) => stream.on("aborted", () => setImmediate(() => stream.destroy())));
      this.#http2.on("sessionError", ignore);
    }
    // Node's HTTP/1.1 server leaves its sockets half open; a session would then never learn that its client left.
    socket.allowHalfOpen = false;
    this.#http2.emit("connection", socket);
  }

  /** Of its own server, since one that knows of upgrades takes them all: HTTP/2's too, which clients offer by the way. */
  #speakWebSocket(socket: Socket): void {
    this.#webSockets ??= createServer()
      .on("upgrade", (request, upgraded, head) => this.#options.webSocket!.pass(request, upgraded, head))
      .on("clientError", refuseBroken);
    this.#webSockets.emit("connection", socket);
  }

  #watch(session: ServerHttp2Session): void {
    const { clock, headersTimeoutMs, idleTimeoutMs } = this.#options;
    this.#sessions.add(session);
    // A client that sends the preface and then trickles or says nothing must not hold its connection for ever.
    const cancel = clock.at(clock.now() + headersTimeoutMs, () => session.destroy());
    session.once("stream", cancel);
    // Streams that are open go on; a silent one is no reason to break it.
    session.setTimeout(idleTimeoutMs, () => session.close());
    session.on("close", () => {
      cancel();
      this.#sessions.delete(session);
    });
  }

  readonly #onRequest = (request: NodeRequest, response: NodeResponse): void => {
    if (request.httpVersionMajor === 2) request.on("error", ignore);
    const { intercept } = this.#options;
    if (intercept?.(request, response, this.#read)) return;
    this.#read(request, response);
  };

  readonly #read: Otherwise = (request, response) => {
    const { bodyLimit, proxy, webSocket } = this.#options;
    if (proxy !== undefined && request.httpVersionMajor === 1 && request.url?.startsWith("http://")) {
      proxy.forward(request as IncomingMessage, response);
      return;
    }
    if (webSocket !== undefined && request.headers.upgrade?.toLowerCase() === "websocket") {
      respond(webSocket.refuse(rawOf(request, NO_BODY)), response, this.#options.clock, false);
      return;
    }
    if (
      request.method === "GET" &&
      request.headers["content-length"] === undefined &&
      request.headers["transfer-encoding"] === undefined
    ) {
      request.resume();
      this.#answer(request, response, NO_BODY);
      return;
    }
    readBody(
      request,
      bodyLimit,
      (body) => this.#answer(request, response, body),
      (fault) => {
        const outcome = this.#options.refuse(rawOf(request, NO_BODY), fault);
        if (request.httpVersionMajor === 1) outcome.headers.push("connection", "close");
        respond(outcome, response, this.#options.clock, false);
      },
    );
  };

  #answer(request: NodeRequest, response: NodeResponse, body: Uint8Array): void {
    const headOnly = request.method === "HEAD";
    const raw = rawOf(request, body);
    const outcome = this.#options.handle(raw);
    if (outcome instanceof Promise) {
      response.once("close", () => raw.gone?.());
      outcome.then((late) => this.#respond(late, raw, response, headOnly));
    } else this.#respond(outcome, raw, response, headOnly);
  }

  #respond(outcome: Outcome, raw: RawRequest, response: NodeResponse, headOnly: boolean): void {
    const { clock } = this.#options;
    try {
      respond(outcome, response, clock, headOnly);
    } catch (error) {
      // A status or header that HTTP does not have, of a fixture made in code: one call's fault, not the server's.
      const message = `The reply cannot be sent: ${(error as Error).message}`;
      respond(this.#options.refuse(raw, { status: 500, message }), response, clock, headOnly);
    }
    outcome.sent?.();
  }
}

const REQUEST_TIMEOUT_MS = 300_000;
// How often the connections that have become idle are closed while the server stops.
const DRAIN_INTERVAL_MS = 5;
const LONGEST_HEAD = 16 * 1024;
const CHECKING_INTERVAL_MS = 10_000;
// Test suites open hundreds of connections at once; Node's 511 would make some of them wait a second.
const BACKLOG = 4096;
export const NO_BODY = new Uint8Array(0);

function ignore(): void {}

const END_OF_HEAD = "\r\n\r\n";

/** Whether a first request is here as far as it tells what it is; a head that is too long is refused by who reads it. */
function hasHead(seen: Buffer): boolean {
  return seen.length > LONGEST_HEAD || seen.includes(END_OF_HEAD);
}

function isWebSocket(seen: Buffer): boolean {
  const head = seen.toString("latin1", 0, seen.indexOf(END_OF_HEAD) + 1);
  return /\nupgrade:[ \t]*websocket[ \t]*\r/i.test(head);
}

export function rawOf(request: IncomingMessage | Http2ServerRequest, body: Uint8Array): RawRequest {
  return new RawRequest(request.method ?? "GET", request.url ?? "/", request.headers, body);
}

/** Answers what is no HTTP, in words, before the connection is closed. */
function refuseBroken(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason, message] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? [431, "Request Header Fields Too Large", "The request's headers are longer than 16 KB."]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? [408, "Request Timeout", "The request did not arrive in time."]
        : [400, "Bad Request", `This is no valid HTTP request: ${error.message}.`];
  const body = String(encodeOpenAIError(new ApiError({ status: Number(status), message: String(message) })).body);
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
