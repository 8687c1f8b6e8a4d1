import type { ChatReply } from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { ChatView } from "../../chat/view.ts";
import { type Dialect, defineOperation } from "../operation.ts";
import { encodeCohereError, encodeCohereStreamError } from "./errors.ts";
import { decodeCohereChat } from "./request.ts";
import { COHERE, encodeCohere } from "./response.ts";
import { cohereRules } from "./rules.ts";
import { encodeCohereStream } from "./stream.ts";

const chat = defineOperation<ChatRequest, ChatReply, Record<string, never>>({
  name: "cohere-chat",
  dialect: COHERE,
  endpoint: "chat",
  output: "chat",
  routes: [{ method: "POST", path: "/v2/chat" }],
  decode: decodeCohereChat,
  view: (request) => new ChatView(request),
  streamed: (request) => request.stream === true,
  variant: () => ({}),
  encode: encodeCohere,
  encodeStream: encodeCohereStream,
  framing: "sse",
  encodeError: encodeCohereError,
  encodeStreamError: encodeCohereStreamError,
  rules: cohereRules,
});

/** Cohere's chat, in the second version of its API. */
export const cohere: Dialect = { name: COHERE, providers: ["cohere"], operations: [chat] };
