import { Socket } from "node:dgram";
import { around } from "./around.ts";
import { refusing } from "./in-force.ts";

/** UDP. */
export function guardDatagrams(): void {
  for (const name of ["send", "connect"]) {
    around(Socket.prototype, name, (run, socket: Socket, args, from) => {
      // The message of `send` comes first, and where it goes comes last: offset and length may be between them.
      const rest = name === "send" ? args.slice(1) : args;
      const address = rest.findLast((arg) => typeof arg === "string");
      const port = rest.findLast((arg) => typeof arg === "number");
      // Without an address it goes to this machine, or to where the socket is connected already.
      const refuser = address === undefined ? undefined : refusing((policy) => policy.allowsHost(address, port));
      if (refuser === undefined) return Reflect.apply(run, socket, args);
      const error = refuser.refuse("datagram", `${address}:${port}`, "EPERM", name, from);
      const callback = args.at(-1);
      if (typeof callback === "function") process.nextTick(callback as (error: Error) => void, error);
      else process.nextTick(() => socket.emit("error", error));
      return undefined;
    });
  }
}
