import { once } from "node:events";
import { connect, type NetConnectOpts } from "node:net";
import type { Framing } from "../wire/framing.ts";
import { type Address, connectionError, formatAddress } from "./address.ts";
import { type Channel, STOPPED_CLEANLY, streamChannel } from "./channel.ts";
import { TransportError } from "./errors.ts";
import { httpChannel } from "./http-client.ts";
import { webSocketChannel } from "./web-socket.ts";

export interface DialOptions {
  framing: Framing;
  /** For HTTP and WebSocket. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** Connects to what listens on the address. Throws a `TransportError` when nobody does. */
export async function dial(address: Address, options: DialOptions): Promise<Channel> {
  switch (address.kind) {
    case "stdio":
      throw new TransportError("The target stdio needs a command: add -- COMMAND.");
    case "unix":
      return socketChannel(address, { path: address.path }, options.framing);
    case "tcp":
      return socketChannel(address, { host: address.host, port: address.port }, options.framing);
    case "http":
      return httpChannel(address, options.headers ?? {});
    case "ws": {
      const { WebSocket } = await import("ws");
      const socket = new WebSocket(address.url, { headers: options.headers, maxPayload: 0, perMessageDeflate: false });
      const channel = webSocketChannel(socket);
      try {
        await once(socket, "open");
      } catch (error) {
        throw connectionError(address.url, error as NodeJS.ErrnoException);
      }
      return channel;
    }
  }
}

async function socketChannel(
  address: Address,
  to: { path: string } | { host: string; port: number },
  framing: Framing,
): Promise<Channel> {
  const socket = connect({ ...to, noDelay: true, allowHalfOpen: true } as NetConnectOpts);
  try {
    await once(socket, "connect");
  } catch (error) {
    throw connectionError(formatAddress(address), error as NodeJS.ErrnoException);
  }
  const channel = streamChannel(socket, socket, framing, "it closed the connection");
  return {
    ...channel,
    stop() {
      socket.destroy();
      return Promise.resolve(STOPPED_CLEANLY);
    },
  };
}
