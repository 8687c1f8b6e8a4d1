import { ChatView } from "../../chat/view.ts";
import type { ChatReply } from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { type Dialect, defineOperation } from "../operation.ts";
import { isObject } from "../raw-request.ts";
import { encodeOpenAIError, encodeOpenAIStreamError } from "./errors.ts";
import { decodeChatRequest } from "./request.ts";
import { type ChatVariant, encodeChatResponse, OPENAI_CHAT } from "./response.ts";
import { openaiChatRules } from "./rules.ts";
import { encodeChatStream } from "./stream.ts";

const completions = defineOperation<ChatRequest, ChatReply, ChatVariant>({
  name: "openai-chat",
  dialect: OPENAI_CHAT,
  endpoint: "chat",
  output: "chat",
  routes: [
    { method: "POST", path: "/v1/chat/completions" },
    // Many who speak it have another version before it, or none: `/v1beta/openai/chat/completions`.
    { method: "POST", path: "/chat/completions" },
  ],
  decode: decodeChatRequest,
  view: (request) => new ChatView(request),
  streamed: (request) => request.stream === true,
  variant: (request) => ({
    choices: typeof request["n"] === "number" ? request["n"] : 1,
    usage: isObject(request["stream_options"]) && request["stream_options"]["include_usage"] === true,
  }),
  encode: encodeChatResponse,
  encodeStream: encodeChatStream,
  framing: "sse",
  encodeError: encodeOpenAIError,
  encodeStreamError: encodeOpenAIStreamError,
  rules: openaiChatRules,
});

/** OpenAI Chat Completions, which many providers speak. */
export const openaiChat: Dialect = { name: OPENAI_CHAT, providers: ["openai"], operations: [completions] };
