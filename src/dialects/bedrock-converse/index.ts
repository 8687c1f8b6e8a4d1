import type { ChatReply } from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { ChatView } from "../../chat/view.ts";
import { askedTo, bedrockCommon } from "../bedrock/common.ts";
import { type Dialect, defineOperation } from "../operation.ts";
import { decodeConverseRequest } from "./request.ts";
import { BEDROCK_CONVERSE, type ConverseVariant, converseVariant, encodeConverse } from "./response.ts";
import { converseRules } from "./rules.ts";
import { encodeConverseStream } from "./stream.ts";

const converse = defineOperation<ChatRequest, ChatReply, ConverseVariant>({
  ...bedrockCommon,
  ...askedTo("converse", "converse-stream"),
  name: BEDROCK_CONVERSE,
  dialect: BEDROCK_CONVERSE,
  endpoint: "chat",
  output: "chat",
  decode: decodeConverseRequest,
  view: (request) => new ChatView(request),
  streamed: (request) => request.stream === true,
  variant: converseVariant,
  encode: encodeConverse,
  encodeStream: encodeConverseStream,
  framing: "aws-event-stream",
  rules: converseRules,
});

/** Amazon Bedrock's own form of a conversation, the same for all models. */
export const bedrockConverse: Dialect = { name: BEDROCK_CONVERSE, providers: ["bedrock"], operations: [converse] };
