import type { ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { Print } from "../dialects/template.ts";
import type { Clock } from "../state/clock.ts";
import type { LiveBody, Sink } from "../transport/live.ts";
import type { Outcome } from "./outcome.ts";
import { pace } from "./pace.ts";

/** Node's HTTP/2 responses have the same methods, and a stream of their own. */
export type NodeResponse = ServerResponse & { stream?: ServerHttp2Stream };

/** Sends a reply over HTTP/1.1 or HTTP/2. */
export function respond(outcome: Outcome, response: NodeResponse, clock: Clock, headOnly: boolean): void {
  const { status, headers, body } = outcome;
  if (response.destroyed || response.socket?.destroyed) {
    if (typeof body === "object" && "attach" in body) body.cancel();
    return;
  }
  if (typeof body === "string" || body instanceof Uint8Array || body instanceof Print) {
    const whole = typeof body === "string" ? Buffer.from(body) : body;
    addLength(headers, whole.length, headOnly);
    response.writeHead(status, headers);
    if (headOnly || hasNoBody(status)) response.end();
    else endWith(whole, response);
    return;
  }
  if ("attach" in body) {
    response.writeHead(status, headers);
    relay(body, response, headOnly || hasNoBody(status), headers);
    return;
  }
  const sink = new ResponseSink(response);
  if (outcome.streamed) {
    response.writeHead(status, headers);
    // A client has its stream from the first byte of the head on; the time to the first token comes after it.
    response.flushHeaders();
  } else {
    // Written when the body is due; a cut before that leaves nothing of the reply.
    sink.head = () => {
      const length = body.chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0);
      addLength(headers, length, headOnly);
      try {
        response.writeHead(status, headers);
      } catch (error) {
        response.destroy(error as Error);
      }
    };
  }
  pace(body, sink, clock, (ending) => outcome.ended?.(ending));
}

/** Of a reply to `HEAD` that was recorded, the length is there, and that of what was not sent. */
function addLength(headers: string[], length: number, headOnly: boolean): void {
  if (!headOnly || !headers.includes("content-length")) headers.push("content-length", String(length));
}

/** Sends a body on whose head is written. */
function relay(body: LiveBody, response: NodeResponse, headOnly: boolean, headers: readonly string[]): void {
  if (headOnly) {
    body.cancel();
    response.end();
    return;
  }
  // A short reply is often here to its end by the time its head is. Without a length its end is a piece of its own.
  const whole = headers.includes("content-length") ? body.takeWhole() : undefined;
  if (whole !== undefined) endWith(whole, response);
  else if (!body.attach(new ResponseSink(response))) response.flushHeaders();
}

/** What followed the head of such a reply, its client would read as the next one. */
function hasNoBody(status: number): boolean {
  return status < 200 || status === 204 || status === 304;
}

/** What rides on a head is copied once more, which pays up to about so many bytes. */
const RIDES_AT_MOST = 12 * 1024;

/**
 * Node sends head, body and an empty end as three pieces, for which it gathers and allocates. A small body rides on the
 * head in one plain write, which saves a fifth of all that the answer costs. Where there is no such head (HTTP/2, other
 * runtimes) the body takes the usual way.
 */
function endWith(body: Uint8Array | Print, response: NodeResponse & { _header?: unknown }): void {
  if (body.length <= RIDES_AT_MOST && typeof response._header === "string") {
    // Heads are sent as Latin-1, in which each byte is one character.
    response._header += body instanceof Print ? body.latin1() : Buffer.from(body).toString("latin1");
    response.end();
  } else if (body instanceof Print && response.stream === undefined) {
    const { socket } = response;
    body.lend((pieces) => {
      const last = pieces.pop();
      for (const piece of pieces) response.write(piece);
      response.end(last);
      // What the system did not take at once is still being read where it lies.
      return socket !== null && socket.writableLength === 0;
    });
  } else response.end(body instanceof Print ? body.bytes() : body);
}

class ResponseSink implements Sink {
  readonly #response: NodeResponse;
  /** Sends the head, once, before the first write. */
  head: (() => void) | undefined;

  constructor(response: NodeResponse) {
    this.#response = response;
  }

  write(chunk: string | Uint8Array): boolean {
    this.head?.();
    this.head = undefined;
    return this.#response.write(chunk);
  }

  end(): void {
    this.#response.end();
  }

  destroy(): void {
    // One turn later, so that what was written before the break is on its way.
    setImmediate(() => {
      const { stream, socket } = this.#response;
      if (stream !== undefined) stream.close(INTERNAL_ERROR);
      else (socket ?? this.#response).destroy();
    });
  }

  onDrain(run: () => void): void {
    this.#response.on("drain", run);
  }

  onClose(run: () => void): void {
    this.#response.on("close", run);
  }
}

const INTERNAL_ERROR = 2;
