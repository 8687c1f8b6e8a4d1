import type { FramingName } from "../wire/framing.ts";

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
  reporter?: string[];
}

export interface PlayFlags {
  listen?: string[];
  case?: string;
  framing?: FramingName;
}

export interface RecordFlags extends TargetFlags {
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
