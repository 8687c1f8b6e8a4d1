import { countTokens, type TokenCount } from "../chat/count-tokens.ts";
import type { ChatRequest } from "../chat/request.ts";
import { ChatView } from "../chat/view.ts";
import { defineOperation, type Operation, type OperationSpec } from "./operation.ts";

type Spec<Req extends ChatRequest> = OperationSpec<Req, TokenCount, Record<string, never>>;

/** Counts the tokens of a request, where a provider has an operation for that. No fixture is meant for it. */
export function tokenCountOperation<Req extends ChatRequest>(
  spec: Pick<Spec<Req>, "name" | "dialect" | "routes" | "decode" | "encode" | "encodeError"> & Partial<Spec<Req>>,
): Operation {
  return defineOperation<Req, TokenCount, Record<string, never>>({
    endpoint: "tokens",
    output: "none",
    view: (request) => new ChatView(request),
    streamed: () => false,
    variant: () => ({}),
    fallback: (call) => countTokens(call.request),
    ...spec,
  });
}
