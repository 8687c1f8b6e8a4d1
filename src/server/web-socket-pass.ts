import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ApiError } from "../dialects/api-error.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import type { Clock } from "../state/clock.ts";
import type { UpgradeEvents, UpstreamCall } from "../upstream/client.ts";
import { NoUpstreamError } from "../upstream/target.ts";
import { NO_BODY, rawOf } from "./listener.ts";
import type { Outcome } from "./outcome.ts";
import { respond } from "./respond.ts";

export interface WebSocketHost {
  clock: Clock;
  /** The reply to one that must not pass. */
  refusal(raw: RawRequest): Outcome | undefined;
  /** The reply to one whose provider was not reached. */
  failure(raw: RawRequest, error: ApiError): Outcome;
  /** @throws {NoUpstreamError} */
  open(raw: RawRequest, events: UpgradeEvents): Promise<UpstreamCall>;
  /** Told of the status with which its provider has answered. */
  passed(raw: RawRequest, status: number): void;
}

/** Hands a WebSocket on to its provider: from then on, what one of both says reaches the other as it is. */
export async function passWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  host: WebSocketHost,
): Promise<void> {
  const raw = rawOf(request, NO_BODY);
  socket.on("error", () => socket.destroy());
  let call: UpstreamCall | undefined;
  socket.on("close", () => call?.abort());
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.on("finish", () => socket.end());
  const answer = (outcome: Outcome): void => respond(outcome, response, host.clock, false);
  const refused = host.refusal(raw);
  if (refused !== undefined) return answer(refused);
  const fail = (error: ApiError): void => {
    if (response.headersSent) socket.destroy();
    else answer(host.failure(raw, error));
  };
  try {
    call = await host.open(raw, {
      upgraded(headers, far) {
        host.passed(raw, 101);
        response.detachSocket(socket as Socket);
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n${linesOf(headers)}\r\n`);
        if (head.length > 0) far.write(head);
        far.on("error", () => socket.destroy());
        far.on("close", () => socket.destroy());
        socket.on("close", () => far.destroy());
        far.pipe(socket).pipe(far);
      },
      head(status, headers) {
        host.passed(raw, status);
        response.writeHead(status, headers);
      },
      data(chunk) {
        if (response.write(chunk)) return;
        call?.pause();
        response.once("drain", () => call?.resume());
      },
      end: () => void response.end(),
      fail: ({ message }) =>
        fail(new ApiError({ status: 502, message: `The provider could not be reached: ${message}`, code: "upstream" })),
    });
  } catch (error) {
    if (!(error instanceof NoUpstreamError)) throw error;
    fail(new ApiError({ status: 502, message: error.message, code: "no_upstream" }));
  }
}

function linesOf(headers: readonly string[]): string {
  let lines = "";
  for (let at = 0; at < headers.length; at += 2) lines += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return lines;
}
