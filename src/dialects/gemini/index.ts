import type { ChatReply } from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { ChatView } from "../../chat/view.ts";
import { GEMINI } from "../gemini-parts/response.ts";
import { encodeGenerateError, encodeGoogleError, encodeGoogleStreamError } from "../google/errors.ts";
import { member } from "../google/members.ts";
import { routesOf } from "../google/routes.ts";
import { type Dialect, defineOperation } from "../operation.ts";
import { isObject } from "../raw-request.ts";
import { tokenCountOperation } from "../token-count.ts";
import { decodeCountTokensRequest, decodeGenerateRequest } from "./request.ts";
import { encodeGenerateResponse, type GeminiVariant } from "./response.ts";
import { geminiRules } from "./rules.ts";
import { encodeGenerateStream } from "./stream.ts";

const generate = defineOperation<ChatRequest, ChatReply, GeminiVariant>({
  name: "gemini-generate",
  dialect: GEMINI,
  endpoint: "chat",
  output: "chat",
  routes: [...routesOf("generateContent"), ...routesOf("streamGenerateContent")],
  decode: decodeGenerateRequest,
  view: (request) => new ChatView(request),
  streamed: (request) => request.stream === true,
  variant: (request) => ({
    candidates: typeof request["n"] === "number" ? request["n"] : 1,
    partialArgs: streamsArguments(request),
  }),
  encode: encodeGenerateResponse,
  encodeStream: encodeGenerateStream,
  framing: (request) => (request["alt"] === "sse" ? "sse" : "json-array"),
  encodeError: encodeGenerateError,
  encodeStreamError: encodeGoogleStreamError,
  rules: geminiRules,
});

function streamsArguments(request: ChatRequest): boolean {
  const config = member(request, "toolConfig");
  const calling = isObject(config) && member(config, "functionCallingConfig");
  return isObject(calling) && member(calling, "streamFunctionCallArguments") === true;
}

const tokenCount = tokenCountOperation({
  name: "gemini-count-tokens",
  dialect: GEMINI,
  routes: routesOf("countTokens"),
  decode: decodeCountTokensRequest,
  encode: ({ tokens }) => ({ totalTokens: tokens, promptTokensDetails: [{ modality: "TEXT", tokenCount: tokens }] }),
  encodeError: encodeGoogleError,
});

/**
 * Gemini, on its own API and on Vertex AI.
 * @see https://ai.google.dev/api
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
 */
export const gemini: Dialect = { name: GEMINI, providers: ["gemini", "vertexai"], operations: [generate, tokenCount] };
