import {
  BedrockRuntimeClient,
  BedrockRuntimeServiceException,
  ConverseCommand,
  ConverseStreamCommand,
  CountTokensCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from "@aws-sdk/client-bedrock-runtime";
import { ApiError, GoogleGenAI } from "@google/genai";
import { Mistral } from "@mistralai/mistralai";
import { SDKError } from "@mistralai/mistralai/models/errors";
import { CohereClient, CohereError } from "cohere-ai";
import { Ollama } from "ollama";
import { expect } from "vitest";
import { CLAUDE_ON_BEDROCK } from "../sdks/claude.ts";
import { googleAuth } from "../sdks/google.ts";
import { aws } from "../sdks/others.ts";
import { key } from "../sdks/sdk.ts";
import { classOf, openaiObject } from "./openai.ts";
import { type ErrorRow, FAILURES, MESSAGE, messages, NEVER, tries, wordOf } from "./row.ts";

// Amazon's, with all that it asks a model for.

const EXCEPTIONS = {
  400: "ValidationException",
  401: "UnrecognizedClientException",
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  413: "RequestEntityTooLargeException",
  429: "ThrottlingException",
  500: "InternalServerException",
  503: "ServiceUnavailableException",
  529: "ServiceUnavailableException",
};
/** Those that the client has no class for. */
const UNKNOWN = new Set([401, 413]);

function amazon(name: string, commandOf: (stream: boolean) => object): ErrorRow {
  return {
    name: `@aws-sdk/client-bedrock-runtime: ${name}`,
    async ask(url, patient, stream) {
      const options = { endpoint: url, region: "us-east-1", credentials: aws, ...(!patient && { maxAttempts: 1 }) };
      const client = new BedrockRuntimeClient(options);
      try {
        return await client.send(commandOf(stream) as ConverseCommand);
      } finally {
        client.destroy();
      }
    },
    base: BedrockRuntimeServiceException,
    told: (status) => ({
      class: UNKNOWN.has(status) ? "BedrockRuntimeServiceException" : wordOf(EXCEPTIONS, status),
      name: wordOf(EXCEPTIONS, status),
      message: MESSAGE,
      $metadata: { httpStatusCode: status, requestId: expect.stringMatching(/^req_/) },
    }),
    // By its status, which Amazon does not have.
    retries: new Set([429, 500, 503]),
    also: [529],
  };
}

const conversation = {
  modelId: CLAUDE_ON_BEDROCK,
  messages: [{ role: "user" as const, content: [{ text: "hello" }] }],
};
const invocation = {
  modelId: CLAUDE_ON_BEDROCK,
  body: JSON.stringify({ anthropic_version: "bedrock-2023-05-31", max_tokens: 9, messages }),
};

export const amazonRows: readonly ErrorRow[] = [
  amazon("converse", (stream) => new (stream ? ConverseStreamCommand : ConverseCommand)(conversation)),
  amazon("invoke", (stream) => new (stream ? InvokeModelWithResponseStreamCommand : InvokeModelCommand)(invocation)),
  amazon(
    "count tokens",
    () => new CountTokensCommand({ modelId: CLAUDE_ON_BEDROCK, input: { converse: conversation } }),
  ),
];

// Google's, which tries nothing again unless it is told to, but for interactions.

const GOOGLE_STATUSES = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};
export const googleObject = (code: number) => ({
  error: { code, message: MESSAGE, status: wordOf(GOOGLE_STATUSES, code) },
});

function google(name: string, more: ConstructorParameters<typeof GoogleGenAI>[0]): ErrorRow {
  return {
    name: `@google/genai: ${name}`,
    ask(url, patient, stream) {
      const httpOptions = { baseUrl: url, ...(!patient && { retryOptions: { attempts: 1 } }) };
      const { models } = new GoogleGenAI({ ...more, httpOptions });
      const asked = { model: "gemini-2.5-flash", contents: "hello" };
      return stream ? models.generateContentStream(asked) : models.generateContent(asked);
    },
    base: ApiError,
    told: (status) => ({ class: "ApiError", status, message: JSON.stringify(googleObject(status)) }),
    retries: NEVER,
    also: [504],
  };
}

const INTERACTION_CODES = {
  400: "invalid_request",
  401: "unauthenticated",
  403: "permission_denied",
  404: "not_found",
  413: "request_too_large",
  429: "too_many_requests",
  500: "api_error",
  503: "service_unavailable",
};

export const googleRows: readonly ErrorRow[] = [
  google("gemini", key),
  google("vertex", {
    vertexai: true,
    project: "p-1",
    location: "europe-west1",
    googleAuthOptions: { authClient: googleAuth },
  }),
  {
    name: "@google/genai: interactions",
    ask: (url, patient, stream) => {
      const { interactions } = new GoogleGenAI({ ...key, httpOptions: { baseUrl: url } });
      const asked = { model: "gemini-2.5-flash", input: "hello" };
      return stream
        ? interactions.create({ ...asked, stream }, tries(patient))
        : interactions.create(asked, tries(patient));
    },
    base: Error,
    told: (status) => ({
      class: classOf(status),
      status,
      error: { error: { message: MESSAGE, code: wordOf(INTERACTION_CODES, status) } },
    }),
    retries: FAILURES,
  },
];

// The others.

const COHERE_CLASSES = {
  400: "CohereError",
  401: "UnauthorizedError",
  403: "ForbiddenError",
  404: "NotFoundError",
  422: "UnprocessableEntityError",
  429: "TooManyRequestsError",
  498: "InvalidTokenError",
  500: "InternalServerError",
  503: "ServiceUnavailableError",
};

export const otherRows: readonly ErrorRow[] = [
  {
    name: "@mistralai/mistralai",
    ask(url, patient, stream) {
      const { chat } = new Mistral({ ...key, serverURL: url, ...(!patient && { retryConfig: { strategy: "none" } }) });
      const asked = { model: "m", messages };
      return stream ? chat.stream(asked) : chat.complete(asked);
    },
    base: SDKError,
    told: (statusCode) => ({
      class: "SDKError",
      statusCode,
      body: JSON.stringify({ object: "error", ...openaiObject(statusCode) }),
    }),
    retries: NEVER,
  },
  {
    name: "ollama",
    ask: (url, _, stream) => {
      const client = new Ollama({ host: url });
      return stream ? client.chat({ model: "m", messages, stream }) : client.chat({ model: "m", messages });
    },
    base: Error,
    told: (status_code) => ({ class: "ResponseError", status_code, error: MESSAGE }),
    retries: NEVER,
  },
  {
    name: "cohere-ai",
    async ask(url, patient, stream) {
      const { v2 } = new CohereClient({ environment: url, token: "x" });
      const asked = { model: "m", messages };
      await (stream ? v2.chatStream(asked, tries(patient)) : v2.chat(asked, tries(patient)));
    },
    base: CohereError,
    told: (statusCode) => ({
      class: statusCode === 400 ? "BadRequestError" : wordOf(COHERE_CLASSES, statusCode),
      statusCode,
      body: { id: expect.stringMatching(/^req_/), message: MESSAGE },
    }),
    retries: FAILURES,
    also: [422, 498],
  },
];
