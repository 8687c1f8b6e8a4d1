import type { FramingName } from "../wire/framing.ts";
import type { ChaosSettings } from "./behaviour-flags.ts";
import type { RedactFlags } from "./redact-options.ts";

/** How a target is reached and how long it is waited for; for `verify` and `record`. */
export interface TargetFlags {
  target?: string;
  framing?: FramingName;
  header?: Record<string, string>;
  responseTimeout?: number;
  drainTimeout?: number;
  stopGrace?: number;
  workdir?: string;
  keepWorkdir?: true;
}

export interface VerifyFlags extends TargetFlags {
  filter?: string;
  jobs?: number;
  bail?: true;
  watch?: true;
  update?: true;
  /** Files with rules of providers that the product does not know. */
  rules?: string[];
  reporter?: string[];
  /** Contracts whose condition has been arranged. */
  allow?: string[];
}

export interface PlayFlags extends ChaosSettings {
  listen?: string[];
  case?: string;
  framing?: FramingName;
  allow?: string[];
  /** Milliseconds by method. */
  delay?: Record<string, number>;
  /** Where the control API is. */
  control?: string;
  seed?: string;
}

export interface RecordFlags extends TargetFlags, RedactFlags {
  tap?: string;
  case?: string;
  description?: string;
  fixture?: string;
  volatile?: string[];
  runs?: number;
  force?: true;
}

export interface LintFlags {
  reporter?: string[];
}

export interface ScanFlags extends RedactFlags {
  fix?: true;
  json?: true;
  detect?: string[];
  skip?: string[];
}

export interface ExplainFlags extends RedactFlags {
  fixtures?: string[];
  path?: string;
  json?: true;
}
