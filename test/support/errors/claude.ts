import { AnthropicBedrock } from "@anthropic-ai/bedrock-sdk";
import Anthropic from "@anthropic-ai/sdk";
import { AnthropicVertex } from "@anthropic-ai/vertex-sdk";
import { expect } from "vitest";
import { CLAUDE_ON_BEDROCK } from "../sdks/claude.ts";
import { googleAuth } from "../sdks/google.ts";
import { key } from "../sdks/sdk.ts";
import { CLASSES } from "./openai.ts";
import { type ErrorRow, FAILURES, MESSAGE, messages, tries, wordOf } from "./row.ts";

const CLAUDE_TYPES = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};
const CLAUDE_CLASSES = {
  ...CLASSES,
  400: "BadRequestError",
  413: "ContentTooLargeError",
  503: "ServiceUnavailableError",
  529: "OverloadedError",
};

type Claude = Pick<Anthropic, "messages">;

function claude(name: string, clientAt: (url: string, patient: boolean) => Claude, objectOf = claudeObject): ErrorRow {
  return {
    name,
    ask: (url, patient, stream) =>
      clientAt(url, patient).messages.create({ model: CLAUDE_ON_BEDROCK, max_tokens: 9, messages, stream }),
    base: Anthropic.APIError,
    told: (status) => ({ class: wordOf(CLAUDE_CLASSES, status), status, error: objectOf(status) }),
    retries: FAILURES,
    also: [529],
  };
}

export function claudeError(status: number): object {
  return { type: wordOf(CLAUDE_TYPES, status), message: MESSAGE };
}

function claudeObject(status: number): object {
  return { type: "error", error: claudeError(status), request_id: expect.stringMatching(/^req_/) };
}

export const claudeRows: readonly ErrorRow[] = [
  claude("@anthropic-ai/sdk", (url, patient) => new Anthropic({ ...key, ...tries(patient), baseURL: url })),
  claude("@anthropic-ai/vertex-sdk", (url, patient) => {
    const place = { region: "europe-west1", projectId: "p-1", authClient: googleAuth };
    return new AnthropicVertex({ ...tries(patient), ...place, baseURL: `${url}/v1` }) as unknown as Claude;
  }),
  // What refuses is Amazon, and not the model's maker.
  claude(
    "@anthropic-ai/bedrock-sdk",
    (url, patient) => {
      const keys = { awsAccessKey: "x", awsSecretKey: "x", awsRegion: "us-east-1" };
      return new AnthropicBedrock({ ...tries(patient), ...keys, baseURL: url }) as unknown as Claude;
    },
    () => ({ message: MESSAGE }),
  ),
];
