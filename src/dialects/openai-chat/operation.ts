import type { ChatReply } from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { ChatView } from "../../chat/view.ts";
import { defineOperation, type Operation, type OperationSpec } from "../operation.ts";
import { isObject } from "../raw-request.ts";
import type { ChatFlavour } from "./flavour.ts";
import { decodeChatRequest } from "./request.ts";
import { type ChatVariant, encodeChatResponse } from "./response.ts";
import { openaiChatRules } from "./rules.ts";
import { encodeChatStream } from "./stream.ts";

type ChatSpec = OperationSpec<ChatRequest, ChatReply, ChatVariant>;

/** Chat completions as a provider has them: where they are, and what else is not as with OpenAI. */
export function chatOperation(
  flavour: ChatFlavour,
  spec: Pick<ChatSpec, "name" | "routes" | "encodeError" | "encodeStreamError"> & Partial<ChatSpec>,
): Operation {
  return defineOperation<ChatRequest, ChatReply, ChatVariant>({
    dialect: flavour.dialect,
    endpoint: "chat",
    output: "chat",
    decode: decodeChatRequest,
    view: (request) => new ChatView(request),
    streamed: (request) => request.stream === true,
    variant: (request) => ({
      choices: typeof request["n"] === "number" ? request["n"] : 1,
      usage: isObject(request["stream_options"]) && request["stream_options"]["include_usage"] === true,
    }),
    encode: (reply, context) => encodeChatResponse(reply, context, flavour),
    encodeStream: (reply, context) => encodeChatStream(reply, context, flavour),
    framing: "sse",
    rules: openaiChatRules,
    ...spec,
  });
}
