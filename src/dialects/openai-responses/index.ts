import { countTokens } from "../../chat/count-tokens.ts";
import type { ChatReply } from "../../chat/reply.ts";
import { ChatView } from "../../chat/view.ts";
import { stemOf } from "../ids.ts";
import { OPENAI_RESPONSES, ownItemIds } from "../openai-items/response.ts";
import { conversationOperations } from "../openai-stored/conversations.ts";
import { storedItems } from "../openai-stored/lists.ts";
import { common, responseRoutes, storedOperations } from "../openai-stored/responses.ts";
import { knownConversation, StoredResponse, storeResponse } from "../openai-stored/state.ts";
import { type Call, type Dialect, defineOperation, type Sent } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { tokenCountOperation } from "../token-count.ts";
import { conversationIdOf, decodeInput, decodeResponsesRequest, ITEMS, type ResponsesRequest } from "./request.ts";
import { encodeResponse, type ResponseVariant } from "./response.ts";
import { openaiResponsesRules } from "./rules.ts";
import { encodeResponseStream } from "./stream.ts";

const responses = defineOperation<ResponsesRequest, ChatReply, ResponseVariant>({
  ...common,
  name: "openai-responses",
  endpoint: "chat",
  output: "chat",
  routes: responseRoutes("POST"),
  decode: decodeResponsesRequest,
  view: (request) => new ChatView(request),
  streamed: (request) => request.stream === true,
  variant: (request) => ({
    encrypted: Array.isArray(request["include"]) && request["include"].includes("reasoning.encrypted_content"),
    custom: JSON.stringify(
      (request.tools ?? []).flatMap(({ type, function: called }) => (type === "custom" ? called?.name : [])),
    ),
    background: request["background"] === true,
  }),
  encode: encodeResponse,
  encodeStream: encodeResponseStream,
  framing: "sse",
  rules: openaiResponsesRules,
  remember,
});

function remember(reply: ChatReply, call: Call<ResponsesRequest>, sent: Sent<ResponsesRequest>): void {
  const { request, memory, streamed } = call;
  const background = request["background"] === true;
  const conversation = conversationIdOf(request);
  // Who polls for a response has to find it, stored or not.
  if (request["store"] === false && !background && conversation === undefined) return;
  const { before, own } = request[ITEMS];
  const body = (): JsonObject => JSON.parse(sent.unary({ ...request, background: false }));
  const progress = background && !streamed ? "queued" : "ended";
  const response = new StoredResponse(body, before, own, progress, sent.chunkSize);
  const first = sent.firstId("resp_");
  storeResponse(memory, reply.envelope?.id ?? first, stemOf(first), ownItemIds(reply), response);
  if (conversation === undefined) return;
  knownConversation(memory, conversation).addLater(() => [...own, ...response.output]);
}

const inputTokens = tokenCountOperation({
  ...common,
  name: "openai-responses-input-tokens",
  routes: responseRoutes("POST", "/input_tokens"),
  decode: decodeInput,
  encode: ({ tokens }) => ({ object: "response.input_tokens", input_tokens: tokens }),
});

/** What the user said stays, all else is folded into an item that only the provider can read. */
const compact = defineOperation<ResponsesRequest, JsonObject, Record<string, never>>({
  ...common,
  name: "openai-responses-compact",
  endpoint: "chat",
  output: "none",
  routes: responseRoutes("POST", "/compact"),
  decode: decodeInput,
  view: (request) => new ChatView(request),
  streamed: () => false,
  variant: () => ({}),
  encode: ({ kept, tokens }, context) => ({
    id: context.id("resp_"),
    object: "response.compaction",
    created_at: context.created,
    output: [
      ...(kept as JsonObject[]),
      { id: context.id("cmp_"), type: "compaction", encrypted_content: context.id("gAAAAAB") },
    ],
    usage: {
      input_tokens: tokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: (tokens as number) + 1,
    },
  }),
  fallback: ({ request }) => {
    const { before, own } = request[ITEMS];
    const said = [...before, ...own].filter(({ role }) => role === "user");
    return { kept: storedItems(said, "compacted"), tokens: countTokens(request).tokens };
  },
});

/**
 * OpenAI Responses and Conversations.
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export const openaiResponses: Dialect = {
  name: OPENAI_RESPONSES,
  providers: ["openai"],
  operations: [responses, inputTokens, compact, ...storedOperations, ...conversationOperations],
};
