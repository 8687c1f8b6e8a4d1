import { chatOperation } from "../openai-chat/operation.ts";
import type { Dialect, Operation, Route } from "../operation.ts";
import { isObject, type RawRequest } from "../raw-request.ts";
import { encodeCompatibleError, encodeCompatibleStreamError } from "./errors.ts";
import { COMPATIBLE_PROVIDERS, type CompatibleProvider } from "./flavours.ts";

const COMMON_PATH = "/v1/chat/completions";
/** That of DeepSeek and Perplexity. */
const UNVERSIONED_PATH = "/chat/completions";
/** Groq's, and also that of OpenAI behind its provider segment and of Azure. */
const GROQ_PATH = "/openai/v1/chat/completions";

function operationsOf(provider: CompatibleProvider): Operation[] {
  const { dialect, paths, models, errors, rules, further = [] } = provider;
  const shared = models === undefined ? [COMMON_PATH] : [COMMON_PATH, UNVERSIONED_PATH];
  const chat = chatOperation(provider, {
    name: `${dialect}-chat`,
    routes: [...shared, ...paths].map((path): Route => ({ method: "POST", path })),
    claims: (raw) => {
      if (raw.path === COMMON_PATH || raw.path === GROQ_PATH) return clientOf(raw) === provider;
      return raw.path !== UNVERSIONED_PATH || clientOf(raw) === provider || modelOf(raw).startsWith(models ?? "");
    },
    encodeError: (error) => encodeCompatibleError(errors, error),
    encodeStreamError: (error) => encodeCompatibleStreamError(errors, error),
    ...(rules && { rules }),
  });
  return [
    chat,
    ...further.map((operation) => ({ ...operation, claims: (raw: RawRequest) => clientOf(raw) === provider })),
  ];
}

// Each provider on a path is asked about each call, and calls of one client follow one another. The request itself
// is not kept: its headers are, which are small, and of which no two requests have the same.
let lastHeaders: RawRequest["headers"] | undefined;
let lastAgent: string | undefined;
let lastClient: CompatibleProvider | undefined;

/** Whose client sent a request, by its user agent (`Groq/JS 1.6.0`, `… ai-sdk/mistral/3.0`). */
function clientOf(raw: RawRequest): CompatibleProvider | undefined {
  if (raw.headers === lastHeaders) return lastClient;
  lastHeaders = raw.headers;
  const agent = raw.header("user-agent");
  if (agent !== lastAgent) {
    const words = agent?.toLowerCase() ?? "";
    lastAgent = agent;
    lastClient = COMPATIBLE_PROVIDERS.find(({ dialect }) => words.includes(dialect));
  }
  return lastClient;
}

/** Empty where there is none; what is wrong with the body the operation will say. */
function modelOf(raw: RawRequest): string {
  try {
    const body = raw.json;
    return isObject(body) && typeof body["model"] === "string" ? body["model"] : "";
  } catch {
    return "";
  }
}

/** Providers that speak OpenAI's chat completions, each with what it adds. */
export const openaiCompatible: readonly Dialect[] = COMPATIBLE_PROVIDERS.map((provider) => ({
  name: provider.dialect,
  providers: [provider.segment ?? provider.dialect],
  operations: operationsOf(provider),
}));
