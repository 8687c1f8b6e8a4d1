import { countTokens, type TokenCount } from "../../chat/count-tokens.ts";
import type { ChatReply } from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { ChatView, PlainView } from "../../chat/view.ts";
import { type Dialect, defineOperation } from "../operation.ts";
import type { JsonObject, RawRequest } from "../raw-request.ts";
import { encodeAnthropicError, encodeAnthropicStreamError } from "./errors.ts";
import { decodeModelsRequest, encodeModels, type ModelsRequest } from "./models.ts";
import { decodeCountTokensRequest, decodeMessagesRequest } from "./request.ts";
import { ANTHROPIC, encodeMessage } from "./response.ts";
import { anthropicRules } from "./rules.ts";
import { encodeMessageStream } from "./stream.ts";

const common = {
  dialect: ANTHROPIC,
  variant: () => ({}),
  encodeError: encodeAnthropicError,
  encodeStreamError: encodeAnthropicStreamError,
  requestIdHeader: "request-id",
};

export const anthropicMessages = defineOperation<ChatRequest, ChatReply, Record<string, never>>({
  ...common,
  name: "anthropic-messages",
  endpoint: "chat",
  output: "chat",
  routes: [{ method: "POST", path: "/v1/messages" }],
  decode: decodeMessagesRequest,
  view: (request) => new ChatView(request),
  streamed: (request) => request.stream === true,
  encode: encodeMessage,
  encodeStream: encodeMessageStream,
  framing: "sse",
  rules: anthropicRules,
});

export const anthropicTokenCount = defineOperation<ChatRequest, TokenCount, Record<string, never>>({
  ...common,
  name: "anthropic-count-tokens",
  endpoint: "tokens",
  output: "none",
  routes: [{ method: "POST", path: "/v1/messages/count_tokens" }],
  decode: decodeCountTokensRequest,
  view: (request) => new ChatView(request),
  streamed: () => false,
  encode: (count) => ({ input_tokens: count.tokens }),
  fallback: (call) => countTokens(call.request),
});

const models = defineOperation<ModelsRequest, JsonObject, Record<string, never>>({
  ...common,
  name: "anthropic-models",
  endpoint: "models",
  output: "none",
  routes: [
    { method: "GET", path: "/v1/models" },
    { method: "GET", path: "/v1/models/:id" },
  ],
  claims: hasAnthropicHeaders,
  decode: decodeModelsRequest,
  view: (request) => new PlainView(request, request.id ?? ""),
  streamed: () => false,
  encode: (body) => body,
  fallback: (call) => encodeModels(call.request),
});

/** OpenAI has the same path; only this API's clients send `anthropic-version` and its like. */
function hasAnthropicHeaders(raw: RawRequest): boolean {
  for (const name in raw.headers) if (name.startsWith("anthropic-")) return true;
  return false;
}

/**
 * Anthropic Messages.
 * @see https://docs.claude.com/en/api/overview
 */
export const anthropic: Dialect = {
  name: ANTHROPIC,
  providers: ["anthropic"],
  operations: [anthropicMessages, anthropicTokenCount, models],
};
