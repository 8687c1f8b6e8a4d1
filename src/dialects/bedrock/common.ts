import type { RawRequest } from "../raw-request.ts";
import { encodeBedrockError, encodeBedrockStreamError } from "./errors.ts";
import { actionOf, MODEL_ROUTE } from "./path.ts";

/** What all operations of this provider have in common. */
export const bedrockCommon = {
  routes: [{ method: "POST" as const, path: MODEL_ROUTE }],
  encodeError: encodeBedrockError,
  encodeStreamError: encodeBedrockStreamError,
  requestIdHeader: "x-amzn-requestid",
};

/** @param actions what may be asked of the model: `converse`, `converse-stream` */
export function askedTo(...actions: string[]) {
  return {
    routes: [{ method: "POST" as const, path: MODEL_ROUTE, ends: actions }],
    claims: (raw: RawRequest) => actions.includes(actionOf(raw)),
  };
}
