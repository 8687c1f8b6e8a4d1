import { encodeOpenAIStreamError } from "../openai-chat/errors.ts";
import { type ChatFlavour, OPENAI } from "../openai-chat/flavour.ts";
import { chatOperation } from "../openai-chat/operation.ts";
import { decodeChatRequest } from "../openai-chat/request.ts";
import { openaiCompletions } from "../openai-completions/index.ts";
import type { Dialect, Operation } from "../operation.ts";
import type { JsonObject, RawRequest } from "../raw-request.ts";
import { withDeployment } from "./deployment.ts";
import { encodeAzureError } from "./errors.ts";

const AZURE = "azure";
/** Groq has it too, and OpenAI behind its provider segment. */
const VERSIONED_PATH = "/openai/v1/chat/completions";

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

function isAzureClient(raw: RawRequest): boolean {
  return raw.header("api-key") !== undefined || (raw.header("user-agent")?.startsWith("AzureOpenAI") ?? false);
}

const chat = chatOperation(flavour, {
  name: "azure-chat",
  routes: [
    { method: "POST", path: "/openai/deployments/:deployment/chat/completions" },
    { method: "POST", path: VERSIONED_PATH },
  ],
  claims: (raw) => raw.path !== VERSIONED_PATH || isAzureClient(raw),
  decode: (raw) => decodeChatRequest(withDeployment(raw)),
  encodeError: encodeAzureError,
  encodeStreamError: encodeOpenAIStreamError,
});

const legacy = openaiCompletions.operations[0]!;

const completions: Operation = {
  ...legacy,
  name: "azure-completions",
  routes: [{ method: "POST", path: "/openai/deployments/:deployment/completions" }],
  decode: (raw, memory) => legacy.decode(withDeployment(raw), memory),
  encodeError: encodeAzureError,
};

/**
 * Azure OpenAI: OpenAI's API with the deployment, which stands for a model, in the path. What has no deployment
 * (`/openai/v1/…`, `/openai/responses`) is OpenAI's own behind the segment.
 * @see https://learn.microsoft.com/azure/ai-foundry/openai/reference
 */
export const azure: Dialect = { name: AZURE, providers: [AZURE], operations: [chat, completions] };
