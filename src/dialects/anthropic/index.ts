import type { ChatReply } from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { ChatView } from "../../chat/view.ts";
import { ANTHROPIC } from "../anthropic-blocks/response.ts";
import { type Dialect, defineOperation } from "../operation.ts";
import { tokenCountOperation } from "../token-count.ts";
import { encodeAnthropicError, encodeAnthropicStreamError } from "./errors.ts";
import { decodeCountTokensRequest, decodeMessagesRequest } from "./request.ts";
import { encodeMessage } from "./response.ts";
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

export const anthropicTokenCount = tokenCountOperation({
  ...common,
  name: "anthropic-count-tokens",
  routes: [{ method: "POST", path: "/v1/messages/count_tokens" }],
  decode: decodeCountTokensRequest,
  encode: ({ tokens }) => ({ input_tokens: tokens }),
});

/**
 * Anthropic Messages.
 * @see https://docs.claude.com/en/api/overview
 */
export const anthropic: Dialect = {
  name: ANTHROPIC,
  providers: ["anthropic"],
  operations: [anthropicMessages, anthropicTokenCount],
};
