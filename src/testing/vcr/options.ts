import type { NetworkBlockOptions } from "../../guard/network-block.ts";
import type { CassetteMode, CassetteOptions } from "../../server/cassette-options.ts";
import type { StuntDoubleOptions } from "../../server/options.ts";
import type { RecordOptions } from "../../server/recording.ts";

export interface VcrOptions extends Omit<CassetteOptions, "mode" | "scenario" | "alone" | "mayBeIdle"> {
  /** `VCR_MODE` unless given, and without it `auto`. */
  mode?: CassetteMode;
  /**
   * Base URLs by provider (`openai`, `anthropic` …), over the known ones: what goes to their hosts is caught too, and
   * recorded calls go to them.
   */
  providers?: RecordOptions["providers"];
  /**
   * What becomes of calls to hosts that are no provider's: they `pass`, or are refused with all else that would leave
   * the machine. `block` while replaying, unless given, and `pass` otherwise.
   */
  unknown?: "pass" | "block";
  /** What passes nevertheless, and who is told of what does not. */
  network?: NetworkBlockOptions;
  /** Calls that no tape answers do not fail the scope. */
  allowMiss?: boolean;
  /** Nor do cassettes that nobody asked for while they are replayed. */
  allowUnused?: boolean;
  /** Nor does a scope without a call. */
  allowEmpty?: boolean;
  /** What the double behind it is to be besides: fixtures that are asked first, redaction, chaos. */
  double?: Omit<StuntDoubleOptions, "cassettes" | "host" | "port" | "tls" | "proxy">;
}
