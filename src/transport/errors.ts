/** The other side could not be reached or started: a fault of the run, not of what the other side answers. */
export class TransportError extends Error {
  override readonly name = "TransportError";
}
