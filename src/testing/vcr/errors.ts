/** A scope that did not go as it should have: calls that no tape answered, tapes that no call asked for. */
export class VcrError extends Error {
  override readonly name = "VcrError";
}

/** Whether it is what `fetch` of a double tells of a connection that breaks. */
function isBroken(error: unknown): error is TypeError & { cause?: NodeJS.ErrnoException } {
  return error instanceof TypeError && error.message === "terminated";
}

/** A connection that breaks, as undici tells of it. `fetch` makes it the cause of its `TypeError`. */
export function undiciError(error: unknown): unknown {
  if (!isBroken(error)) return error;
  if (error.cause?.code !== undefined) return error.cause;
  const closed = new Error("other side closed");
  closed.name = "SocketError";
  // What undici's `instanceof` looks for.
  const marked = { code: "UND_ERR_SOCKET", socket: null, [Symbol.for("undici.error.UND_ERR_SOCKET")]: true };
  return Object.assign(closed, marked);
}

/** The same as `node:http` tells of it. */
export function httpError(error: unknown): unknown {
  if (!isBroken(error)) return error;
  const { cause } = error;
  if (cause?.code !== undefined && !cause.code.startsWith("UND_ERR_")) return cause;
  return Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
}
