import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer as createSocketServer, type Server, type Socket } from "node:net";
import type { Framing } from "../wire/framing.ts";
import { type Address, formatAddress, hostText } from "./address.ts";
import { type Channel, streamChannel } from "./channel.ts";
import { TransportError } from "./errors.ts";
import { HttpConversations } from "./http-listener.ts";
import { webSocketChannel } from "./web-socket.ts";

export interface Listener {
  /** As others reach it, with the port that was taken where 0 was asked for. */
  readonly address: string;
  /** Takes no more connections and closes those there are. */
  close(): Promise<void>;
}

/**
 * Listens on a Unix socket, TCP, HTTP or WebSocket address; `accept` is given each conversation, already connected,
 * and has to open it. Throws a `TransportError` when the address is taken.
 */
export async function listen(
  address: Address,
  framing: Framing,
  accept: (channel: Channel) => void,
): Promise<Listener> {
  switch (address.kind) {
    case "stdio":
      throw new TransportError("Nobody can connect to stdio: it is one conversation, that of this process.");
    case "unix":
      await removeDeadSocket(address.path);
      return bound(socketServer(framing, accept), address, { path: address.path });
    case "tcp":
      return bound(socketServer(framing, accept), address, { host: address.host, port: address.port });
    case "http": {
      if (address.secure) throw new TransportError(`${address.url}: only http:// can be listened on, not https://.`);
      const conversations = new HttpConversations(accept);
      return bound(
        createHttpServer((request, response) => conversations.handle(request, response)),
        address,
        address,
      );
    }
    case "ws": {
      if (address.secure) throw new TransportError(`${address.url}: only ws:// can be listened on, not wss://.`);
      const { WebSocketServer } = await import("ws");
      const server = createHttpServer((_request, response) => response.writeHead(426, { upgrade: "websocket" }).end());
      const sockets = new WebSocketServer({ server, maxPayload: 0 });
      sockets.on("connection", (socket) => accept(webSocketChannel(socket)));
      sockets.on("error", () => {});
      return bound(server, address, address);
    }
  }
}

function socketServer(framing: Framing, accept: (channel: Channel) => void): Server {
  return createSocketServer({ noDelay: true, allowHalfOpen: true }, (socket) =>
    accept(streamChannel(socket, socket, framing, "it closed the connection")),
  );
}

async function bound(
  server: Server,
  address: Address,
  at: { path: string } | { host: string; port: number },
): Promise<Listener> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  server.listen("path" in at ? { path: at.path } : { host: at.host, port: at.port });
  try {
    await once(server, "listening");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === "EADDRINUSE" ? "something else listens there" : (error as Error).message;
    throw new TransportError(`${formatAddress(address)} cannot be listened on: ${why}.`);
  }
  return {
    address: formatAddress(withPort(address, server)),
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

function withPort(address: Address, server: Server): Address {
  const info = server.address() as AddressInfo | string | null;
  if (info === null || typeof info === "string") return address;
  if (address.kind === "tcp") return { ...address, port: info.port };
  if (address.kind !== "http" && address.kind !== "ws") return address;
  const path = new URL(address.url).pathname;
  return {
    ...address,
    port: info.port,
    url: `${address.kind}://${hostText(address.host)}:${info.port}${path === "/" ? "" : path}`,
  };
}

/** A socket file outlives a process that was killed, and would keep the address taken for good. */
async function removeDeadSocket(path: string): Promise<void> {
  const refused = await new Promise<boolean>((resolve) => {
    const socket = connect({ path }, () => {
      socket.destroy();
      resolve(false);
    });
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
  if (refused) await rm(path, { force: true });
}
