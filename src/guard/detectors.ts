import type { Detector } from "./detector.ts";
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
