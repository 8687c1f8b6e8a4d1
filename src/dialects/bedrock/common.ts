import { encodeBedrockError, encodeBedrockStreamError } from "./errors.ts";
import { MODEL_ROUTE } from "./path.ts";

/** What all operations of this provider have in common. */
export const bedrockCommon = {
  routes: [{ method: "POST" as const, path: MODEL_ROUTE }],
  encodeError: encodeBedrockError,
  encodeStreamError: encodeBedrockStreamError,
  requestIdHeader: "x-amzn-requestid",
};
