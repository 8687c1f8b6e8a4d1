import { PlainView } from "../chat/view.ts";
import { encodeOpenAIError } from "./openai-chat/errors.ts";
import { defineOperation } from "./operation.ts";
import type { RawRequest } from "./raw-request.ts";

/**
 * What no dialect decodes: a path of a provider that has no operation here, or a request that its operation
 * refuses and the provider may not. It is matched and recorded as HTTP, and never encoded.
 */
export const httpOperation = defineOperation<unknown, unknown, Record<string, never>>({
  name: "http",
  dialect: "http",
  endpoint: "http",
  output: "none",
  routes: [],
  decode: bodyOf,
  view: (request) => new PlainView(request, ""),
  streamed: () => false,
  variant: () => ({}),
  encode: (out) => out,
  encodeError: encodeOpenAIError,
});

function bodyOf(raw: RawRequest): unknown {
  try {
    return raw.json;
  } catch {
    return raw.text;
  }
}
