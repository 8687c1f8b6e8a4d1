import { TransportError } from "./errors.ts";

/** Names a conversation over HTTP, as MCP's Streamable HTTP has it. */
export const SESSION_HEADER = "mcp-session-id";

/** Where the other side is, or where to listen. */
export type Address =
  | { kind: "stdio" }
  | { kind: "unix"; path: string }
  | { kind: "tcp"; host: string; port: number }
  | { kind: "http"; url: string; secure: boolean; host: string; port: number }
  | { kind: "ws"; url: string; secure: boolean; host: string; port: number };

const FORMS = "stdio, unix:/path/to/socket, tcp://host:port, http://…, https://…, ws://… or wss://…";

/** Reads `stdio`, `unix:PATH`, `tcp://HOST:PORT`, `http(s)://…` or `ws(s)://…`. Throws a `TransportError`. */
export function parseAddress(text: string): Address {
  if (text === "stdio") return { kind: "stdio" };
  if (text.startsWith("unix:")) {
    const path = text.slice("unix:".length).replace(/^\/\/(?=\/)/, "");
    if (path === "") throw new TransportError(`"${text}" names no socket: expected unix:/path/to/socket.`);
    return { kind: "unix", path };
  }
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TransportError(`"${text}" is no address: expected ${FORMS}.`);
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const scheme = url.protocol.slice(0, -1);
  if (scheme === "tcp") {
    if (url.port === "" || host === "") throw new TransportError(`"${text}" is incomplete: expected tcp://host:port.`);
    return { kind: "tcp", host, port: Number(url.port) };
  }
  const secure = scheme.endsWith("s") && scheme !== "ws";
  const plain = secure ? scheme.slice(0, -1) : scheme;
  if (plain !== "http" && plain !== "ws") throw new TransportError(`"${text}" is no address: expected ${FORMS}.`);
  return { kind: plain, url: text, secure, host, port: url.port === "" ? (secure ? 443 : 80) : Number(url.port) };
}

/** The address as it is written. */
export function formatAddress(address: Address): string {
  switch (address.kind) {
    case "stdio":
      return "stdio";
    case "unix":
      return `unix:${address.path}`;
    case "tcp":
      return `tcp://${hostText(address.host)}:${address.port}`;
    default:
      return address.url;
  }
}

export function hostText(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Why a connection failed, for the person who has to do something about it. */
export function connectionError(address: string, error: NodeJS.ErrnoException): TransportError {
  const code = error.code ?? (error as { errors?: NodeJS.ErrnoException[] }).errors?.[0]?.code;
  if (code === "ECONNREFUSED")
    return new TransportError(`Nobody listens on ${address} (connection refused). Is the service running?`);
  if (code === "ENOENT")
    return new TransportError(`Nobody listens on ${address}: there is no such socket. Is the service running?`);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return new TransportError(`${address} cannot be reached: its host name is not known.`);
  return new TransportError(`${address} cannot be reached: ${error.message || code}.`);
}
