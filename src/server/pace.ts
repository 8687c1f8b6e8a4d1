import type { Clock } from "../state/clock.ts";
import type { LiveEnding, Sink } from "../transport/live.ts";

export interface PacedBody {
  chunks: readonly (string | Uint8Array)[];
  /** When each chunk is due, in milliseconds from the start of the reply. */
  due: Float64Array | undefined;
  /** How the connection breaks, if it does. */
  cut?: Cut;
}

export interface Cut {
  /** The chunks are not all there are: the connection breaks after the last one. */
  truncated?: boolean;
  /** The connection breaks at this moment, counted from the start of the reply, unless it is over by then. */
  atMs?: number;
}

export type Ending = LiveEnding | "truncateAfterChunks" | "disconnectAfterMs";

/**
 * Sends a body in its own time. Due times count from the start and never shift: what is late because the socket
 * was full leaves in one write as soon as it drains, and a cut comes at its moment also while the socket is full.
 */
export function pace(body: PacedBody, sink: Sink, clock: Clock, done: (ending: Ending) => void): void {
  const { chunks, due, cut } = body;
  const start = clock.now();
  let next = 0;
  let full = false;
  let over = false;
  let cancel: (() => void) | undefined;
  let cancelCut: (() => void) | undefined;

  const finish = (ending: Ending): void => {
    if (over) return;
    over = true;
    cancel?.();
    cancelCut?.();
    done(ending);
  };
  const breakOff = (reason: Ending): void => {
    if (over) return;
    finish(reason);
    sink.destroy();
  };
  const pull = (): void => {
    cancel = undefined;
    if (over || full) return;
    const elapsed = clock.now() - start;
    const from = next;
    while (next < chunks.length && (due === undefined || due[next]! <= elapsed)) next++;
    if (next > from) full = !sink.write(from + 1 === next ? chunks[from]! : joined(chunks, from, next));
    if (over) return;
    if (next === chunks.length) {
      if (cut?.truncated) {
        // Breaking off at once would throw away what a full socket has not taken yet.
        if (!full) breakOff("truncateAfterChunks");
        return;
      }
      if (cut?.atMs !== undefined && cut.atMs <= elapsed) {
        breakOff("disconnectAfterMs");
        return;
      }
      finish("complete");
      sink.end();
    } else if (!full) {
      cancel = clock.at(start + due![next]!, pull);
    }
  };

  sink.onClose(() => finish("client gone"));
  sink.onDrain(() => {
    full = false;
    if (!over && cancel === undefined) pull();
  });
  if (cut?.atMs !== undefined) cancelCut = clock.at(start + cut.atMs, () => breakOff("disconnectAfterMs"));
  pull();
}

function joined(chunks: readonly (string | Uint8Array)[], from: number, to: number): string | Uint8Array {
  const slice = chunks.slice(from, to);
  if (slice.every((chunk) => typeof chunk === "string")) return slice.join("");
  return Buffer.concat(slice.map((chunk) => (typeof chunk === "string" ? Buffer.from(chunk) : chunk)));
}
