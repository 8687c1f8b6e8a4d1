import type { Refusal } from "../../guard/network-block.ts";
import type { Figures } from "./figures.ts";
import type { RunCall, RunTake } from "./tape-source.ts";

/** A run, as `--report` writes it. */
export interface RunReport {
  version: 1;
  command: readonly string[];
  mode: string;
  scenario: string;
  /** ISO 8601. */
  startedAt: string;
  durationMs: number;
  /** The command's own. */
  commandExitCode: number;
  exitCode: number;
  /** Why the run failed although its command did not. */
  faults: readonly string[];
  figures: Figures;
  calls: readonly RunCall[];
  /** `cost` is in the currency of `figures`; absent where no price is known. */
  takes: readonly (RunTake & { cost?: number })[];
  unused: readonly string[];
  leftBehind: readonly string[];
  /** What the block of the network did not let pass. */
  refused: readonly Refusal[];
}
