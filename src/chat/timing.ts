/** How a reply is spread over time. All of it counts chunks on the wire. */
export interface Timing {
  /** Characters in a piece of streamed text. */
  chunkSize?: number;
  /** Before each chunk. */
  latencyMs?: number;
  streamingProfile?: StreamingProfile;
  recordedTimings?: RecordedTimings;
  /** Divides every delay: 2 is twice as fast. */
  replaySpeed?: number;
  /** The connection breaks after so many chunks. */
  truncateAfterChunks?: number;
  /** The connection breaks after so long, counted from the start of the reply. */
  disconnectAfterMs?: number;
}

export interface StreamingProfile {
  /** Milliseconds to the first chunk. */
  ttft?: number;
  /** Chunks a second after that. */
  tps?: number;
  /** Share by which each delay varies, both ways: 0.1 is ±10 %. */
  jitter?: number;
}

export interface RecordedTimings {
  ttftMs?: number;
  /** Delay before the second chunk, the third … The last one holds for all that follow. */
  interChunkDelaysMs?: number[];
  /** Spread evenly where there are no delays between chunks; of a reply that is not streamed, when it comes. */
  totalDurationMs?: number;
}

/**
 * When each chunk is due, in milliseconds from the start of the reply; undefined when all are due at once.
 * @param random gives numbers from 0 up to 1, for the jitter
 */
export function dueTimes(chunks: number, timing: Timing, random: () => number): Float64Array | undefined {
  const delay = delayOf(timing, chunks, random);
  if (delay === undefined) return undefined;
  const speed = timing.replaySpeed !== undefined && timing.replaySpeed > 0 ? timing.replaySpeed : 1;
  const due = new Float64Array(chunks);
  let at = 0;
  for (let index = 0; index < chunks; index++) {
    at += Math.max(0, delay(index)) / speed;
    due[index] = at;
  }
  return at > 0 ? due : undefined;
}

function delayOf(timing: Timing, chunks: number, random: () => number): ((index: number) => number) | undefined {
  const { streamingProfile: profile, recordedTimings: recorded, latencyMs } = timing;
  if (profile !== undefined) {
    const jitter = profile.jitter ?? 0;
    const between = profile.tps !== undefined && profile.tps > 0 ? 1000 / profile.tps : 0;
    return (index) => {
      const base = index === 0 ? (profile.ttft ?? between) : between;
      return jitter > 0 ? base * (1 + (random() * 2 - 1) * jitter) : base;
    };
  }
  if (recorded !== undefined) {
    const { ttftMs, interChunkDelaysMs: gaps = [], totalDurationMs } = recorded;
    // A reply that is not streamed comes when all of it is there.
    if (chunks === 1) return () => totalDurationMs ?? ttftMs ?? 0;
    if (gaps.length > 0 || totalDurationMs === undefined) {
      return (index) => (index === 0 ? (ttftMs ?? 0) : (gaps[Math.min(index, gaps.length) - 1] ?? 0));
    }
    const first = ttftMs ?? totalDurationMs / chunks;
    return (index) => (index === 0 ? first : (totalDurationMs - first) / (chunks - 1));
  }
  if (latencyMs !== undefined && latencyMs > 0) return () => latencyMs;
  return undefined;
}
