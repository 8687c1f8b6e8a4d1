import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { providerOfHost } from "../upstream/providers.ts";
import { LocalAuthority } from "./authority.ts";

/** What a listener does for applications that use it as their HTTP proxy. */
export interface ForwardProxy {
  /**
   * Answers CONNECT.
   * @param accept takes a connection on which a client speaks to a provider
   */
  tunnel(request: IncomingMessage, socket: Duplex, head: Buffer, accept: (socket: Socket) => void): void;
  /** Passes on a request for another host's plain HTTP. */
  forward(request: IncomingMessage, response: ServerResponse): void;
}

/**
 * Opens the connections to known providers' hosts, with certificates of a local authority, and passes all others
 * through untouched.
 */
function forwardProxy(authority: LocalAuthority): ForwardProxy {
  return {
    tunnel(request, socket, head, accept) {
      socket.on("error", () => socket.destroy());
      const target = request.url ?? "";
      const [, host = "", port = "443"] = /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(target) ?? [];
      if (host === "") return void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
      if (providerOfHost(host) === undefined) return passThrough(host, Number(port), socket, head);
      authority.contextOf(host).then(
        (secureContext) => {
          socket.write(ESTABLISHED);
          if (head.length > 0) socket.unshift(head);
          const opened = new TLSSocket(socket as Socket, {
            isServer: true,
            secureContext,
            // Node takes over no connection for HTTP/2 that has been a request before.
            ALPNProtocols: ["http/1.1"],
          });
          opened.on("error", () => opened.destroy());
          accept(opened);
        },
        () => socket.end("HTTP/1.1 500 Internal Server Error\r\n\r\n"),
      );
    },
    forward(request, response) {
      const { protocol, host, pathname, search } = new URL(request.url ?? "/");
      if (protocol !== "http:") return void response.writeHead(400).end();
      const { "proxy-connection": _, "proxy-authorization": __, ...headers } = request.headers;
      const [hostname, port] = host.split(":");
      const onward = httpRequest(
        { host: hostname, port: port ?? 80, path: pathname + search, method: request.method, headers },
        (reply) => {
          response.writeHead(reply.statusCode ?? 502, reply.rawHeaders);
          reply.pipe(response);
          reply.on("error", () => response.destroy());
        },
      );
      onward.on("error", (error) => {
        if (response.headersSent) response.destroy();
        else
          response
            .writeHead(502, { "content-type": "text/plain" })
            .end(`${host} could not be reached: ${error.message}\n`);
      });
      response.on("close", () => onward.destroy());
      request.pipe(onward);
    },
  };
}

const ESTABLISHED = "HTTP/1.1 200 Connection Established\r\n\r\n";

function passThrough(host: string, port: number, socket: Duplex, head: Buffer): void {
  const onward = connect(port, host, () => {
    socket.write(ESTABLISHED);
    if (head.length > 0) onward.write(head);
    onward.pipe(socket).pipe(onward);
  });
  let open = false;
  onward.on("connect", () => {
    open = true;
  });
  onward.on("error", () => {
    if (open) socket.destroy();
    else socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  socket.on("close", () => onward.destroy());
}

/** @param folder of the certificate authority, which is made on first use */
export async function openProxy(folder: string): Promise<ForwardProxy> {
  return forwardProxy(await LocalAuthority.open(folder));
}
