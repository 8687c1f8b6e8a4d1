/**
 * Where a run's tapes are filled from and what answers from them: the seam at which other traffic than HTTP joins a
 * run, such as that of tool servers.
 */
export interface TapeSource {
  /**
   * Begins to stand in.
   * @returns variables of the environment that lead the command to it
   */
  start(): Promise<Readonly<Record<string, string>>>;
  /** Stops, once the command has ended. Waits until all is written. */
  finish(): Promise<SourceOutcome>;
}

/** What went through a source. */
export interface SourceOutcome {
  calls: readonly RunCall[];
  takes: readonly RunTake[];
  /** Tapes of the run's scenario that nobody asked for. */
  unused: readonly string[];
  /** Why recordings were lost, one for each. */
  lost: readonly string[];
}

export interface RunCall {
  /** `POST /v1/chat/completions` */
  name: string;
  /**
   * `answered`: by the source itself, such as a list of models that no tape holds. `blocked`: by a guardrail, before
   * anything else was asked.
   */
  outcome: "recorded" | "replayed" | "answered" | "blocked" | "missed";
  /** As its protocol has it; 0 where the connection was broken before one was sent. */
  status: number;
  /** The tape that answered. */
  tape?: string;
  /** Of a miss: why nothing answered. */
  detail?: string;
}

/** A recorded answer that was written or used. */
export interface RunTake {
  how: "recorded" | "replayed";
  tape: string;
  provider: string;
  model: string;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  /** How long the provider took. */
  recordedMs: number;
  /** Of that, what a replay did not wait for. */
  savedMs: number;
}
