import type { Detector, DetectorFamily } from "./detector.ts";
import { credentials } from "./detectors/credentials.ts";
import { machine } from "./detectors/machine.ts";
import { organisations } from "./detectors/organisations.ts";
import { personal } from "./detectors/personal.ts";
import { providerKeys } from "./detectors/provider-keys.ts";
import { tokens } from "./detectors/tokens.ts";

/**
 * All detectors that come with the product. The order counts where several find the same text: the first one names it.
 */
export const DETECTORS: readonly Detector[] = [
  ...providerKeys,
  ...tokens,
  ...credentials,
  ...organisations,
  ...personal,
  ...machine,
];

const LETS_IN: ReadonlySet<DetectorFamily> = new Set(["provider key", "token", "credential"]);

/** Options of a redactor that looks for what lets somebody in, and not for what says whose it is. */
export const CREDENTIALS_ONLY: Readonly<Record<string, boolean>> = Object.fromEntries(
  DETECTORS.filter(({ family }) => !LETS_IN.has(family)).map(({ name }) => [name, false]),
);
