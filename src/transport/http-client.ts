import { Agent, type IncomingMessage, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { createParser } from "eventsource-parser";
import { isMessage, readMessage } from "../wire/json-rpc.ts";
import { type Address, connectionError, SESSION_HEADER } from "./address.ts";
import { type Channel, type ChannelEvents, STOPPED_CLEANLY } from "./channel.ts";

const END_SESSION_MS = 1000;

/**
 * JSON-RPC over HTTP: each message is POSTed, and what comes back in the response is delivered: a JSON document, or
 * the events of a stream as MCP's Streamable HTTP has it
 * (https://modelcontextprotocol.io/specification/2025-06-18/basic/transports). A session id that the server gives is
 * sent with every later message. Connects to learn early whether somebody listens.
 */
export async function httpChannel(
  address: Extract<Address, { kind: "http" }>,
  headers: Readonly<Record<string, string>>,
): Promise<Channel> {
  await probe(address);
  return new HttpChannel(address, headers);
}

async function probe(address: Extract<Address, { kind: "http" }>): Promise<void> {
  const { connect } = await import("node:net");
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host: address.host, port: address.port }, () => {
      socket.destroy();
      resolve();
    });
    socket.on("error", (error) => reject(connectionError(address.url, error)));
  });
}

class HttpChannel implements Channel {
  readonly halfCloses = true;
  private events: ChannelEvents | undefined;
  private readonly agent = new Agent({ keepAlive: true });
  private readonly address: Extract<Address, { kind: "http" }>;
  private readonly headers: Readonly<Record<string, string>>;
  private session: string | undefined;
  private inFlight = 0;
  private ending = false;
  private ended = false;
  /** A message that nobody answers is over when its HTTP response has come; sending the next earlier could overtake it. */
  private queue: string[] = [];
  private blocked = false;

  constructor(address: Extract<Address, { kind: "http" }>, headers: Readonly<Record<string, string>>) {
    this.address = address;
    this.headers = headers;
  }

  open(events: ChannelEvents): void {
    this.events = events;
  }

  send(text: string): void {
    this.queue.push(text);
    this.sendNext();
  }

  end(): void {
    this.ending = true;
    this.endIfDone();
  }

  stderr(): string {
    return "";
  }

  async stop() {
    await this.endSession();
    this.agent.destroy();
    this.finish("the connection was closed");
    return STOPPED_CLEANLY;
  }

  /** A server that gives sessions would otherwise keep this one. That it does not take the DELETE is its right. */
  private endSession(): Promise<void> {
    const { session } = this;
    if (session === undefined) return Promise.resolve();
    this.session = undefined;
    return new Promise((resolve) => {
      const send = this.address.secure ? secureRequest : plainRequest;
      const request = send(this.address.url, {
        method: "DELETE",
        headers: { [SESSION_HEADER]: session, ...this.headers },
        timeout: END_SESSION_MS,
      });
      request.on("response", (response) => response.resume().on("close", resolve));
      request.on("timeout", () => request.destroy());
      request.on("error", () => resolve());
      request.end();
    });
  }

  private sendNext(): void {
    while (!this.blocked && this.queue.length > 0) this.post(this.queue.shift() as string);
  }

  private post(text: string): void {
    const message = readMessage(text);
    const asks = isMessage(message) && message.members.some((member) => member.kind === "request");
    this.inFlight++;
    this.blocked = !asks;
    let settled = false;
    const done = () => {
      if (settled) return;
      settled = true;
      this.inFlight--;
      if (!asks) this.blocked = false;
      this.sendNext();
      this.endIfDone();
    };
    const failed = (error: NodeJS.ErrnoException) => {
      if (!this.ended && !settled)
        this.events?.noise({ noise: "", reason: connectionError(this.address.url, error).message });
      done();
    };
    const body = Buffer.from(text);
    const send = this.address.secure ? secureRequest : plainRequest;
    const request = send(this.address.url, {
      method: "POST",
      ...(this.address.secure ? {} : { agent: this.agent }),
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "content-length": body.length,
        ...(this.session ? { [SESSION_HEADER]: this.session } : {}),
        ...this.headers,
      },
    });
    request.on("response", (response) => {
      const session = response.headers[SESSION_HEADER];
      if (typeof session === "string") this.session = session;
      response.on("error", failed);
      this.readResponse(response, done);
    });
    request.on("error", failed);
    request.end(body);
  }

  private readResponse(response: IncomingMessage, done: () => void): void {
    if (response.headers["content-type"]?.startsWith("text/event-stream")) {
      const parser = createParser({ onEvent: (event) => this.events?.frame(event.data) });
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => parser.feed(chunk));
      response.on("end", done);
      return;
    }
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const status = response.statusCode ?? 0;
      if (text.trim() !== "" && isMessage(readMessage(text))) this.events?.frame(text);
      else if (text.trim() !== "" || status >= 400)
        this.events?.noise({
          noise: text.slice(0, 1024),
          reason: `it is an HTTP ${status} response without a message`,
        });
      done();
    });
  }

  private endIfDone(): void {
    if (this.ending && this.inFlight === 0 && this.queue.length === 0) this.finish("every request was answered");
  }

  private finish(how: string): void {
    if (this.ended) return;
    this.ended = true;
    this.agent.destroy();
    this.events?.end(how);
  }
}
