import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { errorResponse, isMessage, readMessage } from "../wire/json-rpc.ts";
import { SESSION_HEADER } from "./address.ts";
import { type Channel, type ChannelEvents, STOPPED_CLEANLY } from "./channel.ts";

/** A POST whose requests are not all answered. */
interface Exchange {
  response: ServerResponse;
  waiting: Set<string>;
  acceptsEvents: boolean;
  streaming: boolean;
  /** What is sent while the POST is being received; undefined once it has been. */
  held: string[] | undefined;
}

/**
 * The conversations of an HTTP listener. A POST is answered when all requests in it are; what is sent meanwhile, or at
 * once with the answer, and answers nothing goes into the response as an event stream where the client accepts one, and
 * is lost where it does not: plain HTTP has no way for it.
 *
 * Each conversation is given an id as MCP's Streamable HTTP has it, and a DELETE with it ends the conversation. A client
 * that knows nothing of ids stays in the one conversation that nobody has named yet, until `initialize` begins another.
 */
export class HttpConversations {
  private readonly named = new Map<string, HttpConversation>();
  private unnamed: HttpConversation | undefined;
  private readonly accept: (channel: Channel) => void;

  constructor(accept: (channel: Channel) => void) {
    this.accept = accept;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const id = request.headers[SESSION_HEADER];
    const known = typeof id === "string" ? this.named.get(id) : undefined;
    if (typeof id === "string" && (!known || known.over)) {
      response.writeHead(404, { "content-type": "text/plain" }).end("There is no such session.\n");
      return;
    }
    if (request.method === "DELETE" && known) {
      this.forget(known);
      response.writeHead(204).end();
      return;
    }
    if (request.method !== "POST") {
      response
        .writeHead(405, { allow: "POST, DELETE", "content-type": "text/plain" })
        .end("JSON-RPC over HTTP takes POST.\n");
      return;
    }
    const chunks: Buffer[] = [];
    request.on("error", () => {});
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const conversation = known ?? this.unnamedFor(text);
      if (known && known === this.unnamed) this.unnamed = undefined;
      conversation.receive(text, response, request.headers.accept?.includes("text/event-stream") ?? false);
    });
  }

  private unnamedFor(text: string): HttpConversation {
    const message = readMessage(text);
    const begins = isMessage(message) && message.members.some((member) => member.method === "initialize");
    if (this.unnamed && (begins || this.unnamed.over)) this.forget(this.unnamed);
    if (!this.unnamed) {
      this.unnamed = new HttpConversation();
      this.named.set(this.unnamed.id, this.unnamed);
      this.accept(this.unnamed);
    }
    return this.unnamed;
  }

  private forget(conversation: HttpConversation): void {
    this.named.delete(conversation.id);
    if (this.unnamed === conversation) this.unnamed = undefined;
    conversation.finish();
  }
}

class HttpConversation implements Channel {
  readonly halfCloses = false;
  readonly id = randomUUID();
  over = false;
  private events: ChannelEvents | undefined;
  private readonly exchanges: Exchange[] = [];

  open(events: ChannelEvents): void {
    this.events = events;
  }

  receive(text: string, response: ServerResponse, acceptsEvents: boolean): void {
    response.setHeader(SESSION_HEADER, this.id);
    const message = readMessage(text);
    const asked = isMessage(message)
      ? message.members.flatMap((member) => (member.kind === "request" ? [member.idKey as string] : []))
      : ["null"];
    if (asked.length === 0) {
      this.events?.frame(text);
      response.writeHead(202).end();
      return;
    }
    const exchange: Exchange = { response, waiting: new Set(asked), acceptsEvents, streaming: false, held: [] };
    this.exchanges.push(exchange);
    response.on("close", () => this.drop(exchange));
    this.events?.frame(text);
    this.release(exchange);
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
    // What is broken on purpose says not whom it answers, and nothing else will come.
    if (!isMessage(message)) exchange.waiting.clear();
    if (exchange.held) exchange.held.push(text);
    else this.write(exchange, [text]);
  }

  private release(exchange: Exchange): void {
    const held = exchange.held as string[];
    exchange.held = undefined;
    if (held.length > 0 && this.exchanges.includes(exchange)) this.write(exchange, held);
  }

  private write(exchange: Exchange, texts: readonly string[]): void {
    const { response } = exchange;
    const last = exchange.waiting.size === 0;
    if (last) this.drop(exchange);
    if (!exchange.streaming && (!exchange.acceptsEvents || (last && texts.length === 1))) {
      const answer = texts.findLast(answersSomething);
      if (last && answer !== undefined) response.writeHead(200, { "content-type": "application/json" }).end(answer);
      return;
    }
    if (!exchange.streaming)
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    exchange.streaming = true;
    response.write(texts.map((text) => `event: message\ndata: ${text}\n\n`).join(""));
    if (last) response.end();
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
    this.events?.end("it ended the session");
  }

  stderr(): string {
    return "";
  }

  stop() {
    for (const { response } of this.exchanges.splice(0)) response.destroy();
    this.finish();
    return Promise.resolve(STOPPED_CLEANLY);
  }

  private drop(exchange: Exchange): void {
    const at = this.exchanges.indexOf(exchange);
    if (at >= 0) this.exchanges.splice(at, 1);
  }
}

function answersSomething(text: string): boolean {
  const message = readMessage(text);
  return !isMessage(message) || message.members.some(({ kind }) => kind === "response");
}
