import { encodeOpenAIStreamError } from "../openai-chat/errors.ts";
import { type ChatFlavour, OPENAI } from "../openai-chat/flavour.ts";
import { chatOperation } from "../openai-chat/operation.ts";
import { decodeChatRequest } from "../openai-chat/request.ts";
import { openaiCompletions } from "../openai-completions/index.ts";
import { openaiResponses } from "../openai-responses/index.ts";
import type { Dialect } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { encodeAzureError } from "./errors.ts";
import { AZURE, deploymentRoute, isAzures, ofAzure, withDeployment } from "./operation.ts";

const flavour: ChatFlavour = {
  ...OPENAI,
  dialect: AZURE,
  ending: (_, finishReason) => ({ content_filter_results: filterResults(finishReason === "content_filter") }),
};

/** @see https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter */
function filterResults(filtered: boolean): JsonObject {
  const safe = { filtered: false, severity: "safe" };
  return { hate: filtered ? { filtered, severity: "high" } : safe, self_harm: safe, sexual: safe, violence: safe };
}

const chat = chatOperation(flavour, {
  name: "azure-chat",
  // Groq has the other one too.
  routes: [deploymentRoute("/chat/completions"), { method: "POST", path: "/openai/v1/chat/completions" }],
  claims: isAzures,
  decode: (raw) => decodeChatRequest(withDeployment(raw)),
  encodeError: encodeAzureError,
  encodeStreamError: encodeOpenAIStreamError,
});

/**
 * Azure OpenAI: OpenAI's API with the deployment, which stands for a model, in the path; or with its version there
 * (`/openai/v1/…`), or neither (`/openai/responses`).
 * @see https://learn.microsoft.com/azure/ai-foundry/openai/reference
 */
export const azure: Dialect = {
  name: AZURE,
  providers: [AZURE],
  operations: [
    chat,
    ...openaiCompletions.operations.map((completions) => ofAzure(completions, "/completions")),
    ...openaiResponses.operations.map((operation) => ofAzure(operation)),
  ],
};
