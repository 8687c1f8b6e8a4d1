import type { IncomingMessage, ServerResponse } from "node:http";
import { errorResponse, isMessage, readMessage } from "../wire/json-rpc.ts";
import { type Channel, type ChannelEvents, STOPPED_CLEANLY } from "./channel.ts";

/** A POST whose requests are not all answered. */
interface Exchange {
  response: ServerResponse;
  waiting: Set<string>;
  acceptsEvents: boolean;
  streaming: boolean;
}

/**
 * The conversations of an HTTP listener. A POST is answered when all requests in it are; what is sent meanwhile and
 * answers nothing goes into the response as an event stream where the client accepts one, and is lost where it does
 * not: plain HTTP has no way for it. `initialize` begins a new conversation, everything else belongs to the last one.
 */
export class HttpConversations {
  private current: HttpConversation | undefined;
  private readonly accept: (channel: Channel) => void;

  constructor(accept: (channel: Channel) => void) {
    this.accept = accept;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    if (request.method !== "POST") {
      response.writeHead(405, { allow: "POST", "content-type": "text/plain" }).end("JSON-RPC over HTTP takes POST.\n");
      return;
    }
    const chunks: Buffer[] = [];
    request.on("error", () => {});
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const message = readMessage(text);
      const begins = isMessage(message) && message.members.some((member) => member.method === "initialize");
      if (this.current === undefined || this.current.over || (begins && this.current.begun)) {
        this.current?.finish();
        this.current = new HttpConversation();
        this.accept(this.current);
      }
      this.current.receive(text, response, request.headers.accept?.includes("text/event-stream") ?? false);
    });
  }
}

class HttpConversation implements Channel {
  readonly halfCloses = false;
  begun = false;
  over = false;
  private events: ChannelEvents | undefined;
  private readonly exchanges: Exchange[] = [];

  open(events: ChannelEvents): void {
    this.events = events;
  }

  receive(text: string, response: ServerResponse, acceptsEvents: boolean): void {
    this.begun = true;
    const message = readMessage(text);
    const asked = isMessage(message)
      ? message.members.flatMap((member) => (member.kind === "request" ? [member.idKey as string] : []))
      : ["null"];
    const exchange = { response, waiting: new Set(asked), acceptsEvents, streaming: false };
    if (asked.length > 0) {
      this.exchanges.push(exchange);
      response.on("close", () => this.drop(exchange));
    }
    this.events?.frame(text);
    if (asked.length === 0) response.writeHead(202).end();
  }

  send(text: string): void {
    const message = readMessage(text);
    const answers = isMessage(message)
      ? message.members.flatMap((member) => (member.kind === "response" ? [member.idKey as string] : []))
      : [];
    const exchange =
      this.exchanges.find(({ waiting }) => answers.some((id) => waiting.has(id))) ?? this.exchanges.at(-1);
    if (!exchange) return;
    for (const id of answers) exchange.waiting.delete(id);
    const last = exchange.waiting.size === 0;
    if (!exchange.streaming && (last || !exchange.acceptsEvents)) {
      if (!last) return;
      this.drop(exchange);
      exchange.response.writeHead(200, { "content-type": "application/json" }).end(text);
      return;
    }
    if (!exchange.streaming)
      exchange.response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    exchange.streaming = true;
    exchange.response.write(`event: message\ndata: ${text}\n\n`);
    if (!last) return;
    this.drop(exchange);
    exchange.response.end();
  }

  end(): void {
    this.over = true;
    for (const exchange of this.exchanges.splice(0)) {
      if (exchange.streaming) exchange.response.end();
      else
        exchange.response
          .writeHead(200, { "content-type": "application/json" })
          .end(errorResponse("null", -32603, "The conversation ended without an answer."));
    }
  }

  finish(): void {
    if (this.over) return;
    this.over = true;
    this.events?.end("a new conversation began");
  }

  stderr(): string {
    return "";
  }

  stop() {
    this.end();
    return Promise.resolve(STOPPED_CLEANLY);
  }

  private drop(exchange: Exchange): void {
    const at = this.exchanges.indexOf(exchange);
    if (at >= 0) this.exchanges.splice(at, 1);
  }
}
