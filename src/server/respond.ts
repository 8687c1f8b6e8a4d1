import type { ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Clock } from "../state/clock.ts";
import type { Sink } from "../transport/live.ts";
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
  if (typeof body === "string" || body instanceof Uint8Array) {
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
    headers.push("content-length", String(length));
    response.writeHead(status, headers);
    if (headOnly) response.end();
    // A text of as many bytes as characters is ASCII, which leaves together with the head and without a conversion.
    else if (typeof body === "string" && length === body.length) response.end(body, "latin1");
    else response.end(body);
    return;
  }
  const sink = new ResponseSink(response);
  if ("attach" in body) {
    response.writeHead(status, headers);
    if (headOnly) {
      body.cancel();
      response.end();
    } else if (!body.attach(sink)) response.flushHeaders();
    return;
  }
  if (outcome.streamed) {
    response.writeHead(status, headers);
    // A client has its stream from the first byte of the head on; the time to the first token comes after it.
    response.flushHeaders();
  } else {
    // Written when the body is due; a cut before that leaves nothing of the reply.
    sink.head = () => {
      headers.push("content-length", String(body.chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0)));
      response.writeHead(status, headers);
    };
  }
  pace(body, sink, clock, (ending) => outcome.ended?.(ending));
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
