import { ApiError } from "../dialects/api-error.ts";
import { httpOperation } from "../dialects/http.ts";
import type { HttpMethod, Operation } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import { dialects } from "../services/registry.ts";
import { providerAsked } from "../upstream/target.ts";
import { isDecodable } from "./router.ts";

/**
 * In whose words a request is refused that no operation takes. Clients make errors of their own of what their
 * provider says, and of nothing else.
 * @param others who would have taken it with another method
 */
export function speakerOf(raw: RawRequest, others: ReadonlyMap<HttpMethod, Operation>): Operation {
  const [other] = others.values();
  const provider = other === undefined ? providerAsked({ raw, operation: httpOperation }) : undefined;
  const dialect = dialects.find(({ providers }) => provider !== undefined && providers.includes(provider));
  return other ?? dialect?.operations[0] ?? httpOperation;
}

/** Why no operation takes a request. */
export function unroutedError({ method, path }: RawRequest, others: ReadonlyMap<HttpMethod, Operation>): ApiError {
  if (!isDecodable(path)) {
    const message = `The path ${path} has a % that begins no escape of UTF-8. Write %25 for a percent sign.`;
    return new ApiError({ status: 400, message, code: "invalid_url" });
  }
  if (others.size > 0) {
    const message = `Not allowed to ${method} on ${path}; it takes ${[...others.keys()].join(", ")}.`;
    return new ApiError({ status: 405, message, code: "method_not_allowed" });
  }
  const message = `Unknown request URL: ${method} ${path}. Is the base URL right? OpenAI clients need one that ends with /v1, those of Anthropic, Google and AWS one without. What is served is listed in docs/providers.md.`;
  return new ApiError({ status: 404, message, code: "unknown_url" });
}
