import type { ChatReply } from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { ChatView } from "../../chat/view.ts";
import { encodeOpenAIError, encodeOpenAIStreamError } from "../openai-chat/errors.ts";
import { type Dialect, defineOperation } from "../operation.ts";
import { isObject } from "../raw-request.ts";
import { choicesOf, decodeCompletionRequest } from "./request.ts";
import { type CompletionVariant, encodeCompletionResponse } from "./response.ts";
import { completionRules } from "./rules.ts";
import { encodeCompletionStream } from "./stream.ts";

const completions = defineOperation<ChatRequest, ChatReply, CompletionVariant>({
  name: "openai-completions",
  dialect: "openai-completions",
  endpoint: "chat",
  output: "chat",
  routes: [{ method: "POST", path: "/v1/completions" }],
  decode: decodeCompletionRequest,
  view: (request) => new ChatView(request),
  streamed: (request) => request.stream === true,
  variant: (request) => ({
    choices: choicesOf(request),
    usage: isObject(request["stream_options"]) && request["stream_options"]["include_usage"] === true,
  }),
  encode: encodeCompletionResponse,
  encodeStream: encodeCompletionStream,
  framing: "sse",
  encodeError: encodeOpenAIError,
  encodeStreamError: encodeOpenAIStreamError,
  rules: completionRules,
});

/** OpenAI's older API, from before chat. */
export const openaiCompletions: Dialect = {
  name: "openai-completions",
  providers: ["openai"],
  operations: [completions],
};
