import { countTokens, type TokenCount } from "../../chat/count-tokens.ts";
import type { ChatReply } from "../../chat/reply.ts";
import { ChatView } from "../../chat/view.ts";
import { type Call, type Dialect, defineOperation } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { conversationOperations } from "./conversations.ts";
import { conversationIdOf, decodeInput, decodeResponsesRequest, ITEMS, type ResponsesRequest } from "./request.ts";
import { encodeResponse, OPENAI_RESPONSES, type ResponseVariant } from "./response.ts";
import { openaiResponsesRules } from "./rules.ts";
import { addItems, outputOf, storedItems, storeResponse } from "./state.ts";
import { common, responseRoutes, storedOperations } from "./stored.ts";
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

function remember(_: ChatReply, call: Call<ResponsesRequest>, unary: (request: ResponsesRequest) => string): void {
  const { request, memory, streamed } = call;
  const background = request["background"] === true;
  const conversation = conversationIdOf(request);
  // Who polls for a response has to find it, stored or not.
  if (request["store"] === false && !background && conversation === undefined) return;
  const body = JSON.parse(unary({ ...request, background: false })) as JsonObject;
  const { before, own } = request[ITEMS];
  storeResponse(memory, { body, before, own, progress: background && !streamed ? "queued" : "ended" });
  if (conversation !== undefined) addItems(memory, conversation, [...own, ...outputOf(body)]);
}

const inputTokens = defineOperation<ResponsesRequest, TokenCount, Record<string, never>>({
  ...common,
  name: "openai-responses-input-tokens",
  endpoint: "tokens",
  output: "none",
  routes: responseRoutes("POST", "/input_tokens"),
  decode: decodeInput,
  view: (request) => new ChatView(request),
  streamed: () => false,
  variant: () => ({}),
  encode: ({ tokens }) => ({ object: "response.input_tokens", input_tokens: tokens }),
  fallback: ({ request }) => countTokens(request),
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
