import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
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
  const servers = new Map<string, Promise<TlsServer>>();
  /** Never listens: it is given the connections that were opened to a host, and speaks TLS on them. */
  const serverOf = (host: string, accept: (socket: Socket) => void): Promise<TlsServer> => {
    let server = servers.get(host);
    if (server === undefined) {
      server = authority.certificateOf(host).then((certificate) => {
        const made = createTlsServer({ ...certificate, ALPNProtocols: ["h2", "http/1.1"] }, accept);
        return made.on("tlsClientError", (_error, socket) => socket.destroy());
      });
      servers.set(host, server);
    }
    return server;
  };
  return {
    tunnel(request, socket, head, accept) {
      socket.on("error", () => socket.destroy());
      // Without a port it is that of HTTPS.
      const target = hostOf(`https://${request.url ?? ""}`, 443);
      if (target === undefined) {
        const message = `This is no host and port to connect to: ${request.url}. Expected one like api.openai.com:443.\n`;
        const length = Buffer.byteLength(message);
        const fields = `Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${length}\r\nConnection: close`;
        return void socket.end(`HTTP/1.1 400 Bad Request\r\n${fields}\r\n\r\n${message}`);
      }
      const { host, port } = target;
      if (providerOfHost(host) === undefined) return passThrough(host, port, socket, head);
      serverOf(host, accept).then(
        (server) => {
          socket.write(ESTABLISHED);
          if (head.length > 0) socket.unshift(head);
          server.emit("connection", socket);
        },
        () => socket.end("HTTP/1.1 500 Internal Server Error\r\n\r\n"),
      );
    },
    forward(request, response) {
      const say = (status: number, message: string): void =>
        void response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${message}\n`);
      const target = hostOf(request.url ?? "", 80);
      if (target === undefined)
        return say(400, `This is no URL: ${request.url}. Expected one like http://example.com/path.`);
      const { host, port, path } = target;
      const { "proxy-connection": _, "proxy-authorization": __, ...headers } = request.headers;
      const onward = httpRequest({ host, port, path, method: request.method, headers }, (reply) => {
        try {
          response.writeHead(reply.statusCode!, reply.rawHeaders);
        } catch (error) {
          // Such as a status that HTTP does not have.
          onward.destroy();
          return failed(error as Error);
        }
        reply.pipe(response);
        reply.on("error", () => response.destroy());
      });
      const failed = ({ message }: Error): void => {
        if (response.headersSent) response.destroy();
        else say(502, `${host} could not be asked: ${message}`);
      };
      onward.on("error", failed);
      onward.on("upgrade", (_reply, far) => {
        far.destroy();
        failed(new Error("it changes the protocol, which takes a CONNECT"));
      });
      response.on("close", () => onward.destroy());
      request.pipe(onward);
    },
  };
}

/** Undefined for what is no URL, whatever it is that a client sends. */
function hostOf(url: string, usualPort: number): { host: string; port: number; path: string } | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname, port, pathname, search } = new URL(url);
  // The brackets of an IPv6 address are the URL's.
  const host = hostname.replace(/^\[|\]$/g, "");
  return host === "" ? undefined : { host, port: port === "" ? usualPort : Number(port), path: pathname + search };
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
