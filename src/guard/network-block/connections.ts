import { type LookupFunction, Socket, type TcpSocketConnectOpts } from "node:net";
import { around, aroundNew } from "./around.ts";
import { type Called, onBehalfOf } from "./callers.ts";
import { isLoopback } from "./hosts.ts";
import { policiesInForce, refusing } from "./in-force.ts";

/** All that Node connects goes through a socket: TLS, HTTP, HTTP/2, `fetch` and WebSockets too. */
export function guardSockets(): void {
  around(Socket.prototype, "connect", (connect, socket: Socket, args, from) => {
    const options = policiesInForce().length > 0 ? optionsOf(args) : undefined;
    if (options === undefined) return Reflect.apply(connect, socket, args);
    const { host = "localhost", lookup } = options;
    const port = Number(options.port);
    const refusal = (address: string): Error | undefined =>
      refusing((policy) => policy.allowsHost(address, port))?.refuse(
        "connection",
        address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`,
        "ECONNREFUSED",
        "connect",
        from,
      );
    const error = refusal(host);
    if (error !== undefined) {
      // It fails in the way and at the time in which Node's own attempts do: HTTP/2 for one depends on it.
      const refused: LookupFunction = (_, __, done) => process.nextTick(done, error);
      return Reflect.apply(connect, socket, [{ ...options, host: "blocked.invalid", lookup: refused }]);
    }
    // A name of this machine could be led elsewhere.
    if (lookup !== undefined && isLoopback(host)) {
      socket.on("lookup", (failure: Error | null, address: string) => {
        const elsewhere = failure === null ? refusal(address) : undefined;
        if (elsewhere !== undefined) socket.destroy(elsewhere);
      });
    }
    return Reflect.apply(connect, socket, args);
  });
  // These open their sockets later, when who called them is no longer on the stack.
  around(globalThis, "fetch", (fetch, self, args, from) => forCaller(from, () => Reflect.apply(fetch, self, args)));
  for (const name of ["WebSocket", "EventSource"]) {
    aroundNew(globalThis, name, (make, args, from) => forCaller(from, () => make(args)));
  }
}

function forCaller<Result>(from: Called, run: () => Result): Result {
  return policiesInForce().length === 0 ? run() : onBehalfOf(from, run);
}

/** Where a socket is to connect to; undefined for a path, which does not leave the machine. */
function optionsOf(args: unknown[]): Pick<TcpSocketConnectOpts, "host" | "port" | "lookup"> | undefined {
  // Node calls it with arguments that it has put in order already: the options and the callback.
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  if (typeof first === "object" && first !== null) {
    return (first as { path?: unknown }).path == null ? (first as TcpSocketConnectOpts) : undefined;
  }
  // `connect("8080")` is a port, and any other text a path.
  if (typeof first !== "number" && (typeof first !== "string" || Number.isNaN(Number(first)))) return undefined;
  return { port: Number(first), ...(typeof second === "string" && { host: second }) };
}
