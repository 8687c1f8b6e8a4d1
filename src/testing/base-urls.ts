/** Where an SDK looks for the address of its provider. */
export interface BaseUrlVariable {
  /** The environment variable. */
  name: string;
  /** What follows the double's URL in it. */
  path: string;
  /** Whose address it is, by the name under which calls are passed on. */
  provider: string;
  /** Who reads it, by language. */
  readBy: Partial<Record<Language, readonly string[]>>;
}

export const LANGUAGES = ["JavaScript", "Python", "Go", "Java", "Ruby", "other"] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * The variables that lead SDKs to a double. A variable is on the list when the SDK itself reads it, so that no code
 * has to change. Two SDKs may disagree on what belongs in one: then it is the longer form, since a double finds its
 * paths behind any prefix. Those of providers that share OpenAI's paths have the provider's name in theirs.
 */
export const BASE_URL_VARIABLES: readonly BaseUrlVariable[] = [
  {
    name: "OPENAI_BASE_URL",
    path: "/v1",
    provider: "openai",
    readBy: {
      JavaScript: ["openai", "@ai-sdk/openai", "@langchain/openai", "@openai/agents"],
      Python: ["openai", "langchain-openai", "LiteLLM"],
      Go: ["openai-go"],
      Java: ["openai-java"],
      Ruby: ["openai"],
    },
  },
  {
    name: "OPENAI_API_BASE",
    path: "/v1",
    provider: "openai",
    readBy: { JavaScript: ["@langchain/openai"], Python: ["langchain-openai", "LiteLLM"] },
  },
  {
    name: "ANTHROPIC_BASE_URL",
    path: "/v1",
    provider: "anthropic",
    readBy: {
      JavaScript: ["@anthropic-ai/sdk", "@ai-sdk/anthropic"],
      Python: ["anthropic", "langchain-anthropic", "LiteLLM"],
      Go: ["anthropic-sdk-go"],
      Java: ["anthropic-java"],
      Ruby: ["anthropic"],
      other: ["Claude Code"],
    },
  },
  { name: "ANTHROPIC_API_URL", path: "", provider: "anthropic", readBy: { Python: ["langchain-anthropic"] } },
  { name: "ANTHROPIC_API_BASE", path: "", provider: "anthropic", readBy: { Python: ["LiteLLM"] } },
  {
    name: "ANTHROPIC_BEDROCK_BASE_URL",
    path: "",
    provider: "bedrock",
    readBy: { JavaScript: ["@anthropic-ai/bedrock-sdk"], Python: ["anthropic (AnthropicBedrock)"] },
  },
  {
    name: "ANTHROPIC_VERTEX_BASE_URL",
    path: "/v1",
    provider: "vertexai",
    readBy: { JavaScript: ["@anthropic-ai/vertex-sdk"], Python: ["anthropic (AnthropicVertex)"] },
  },
  {
    name: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    path: "",
    provider: "bedrock",
    readBy: {
      JavaScript: ["@aws-sdk/client-bedrock-runtime", "@ai-sdk/amazon-bedrock"],
      Python: ["boto3"],
      Go: ["aws-sdk-go-v2"],
      Java: ["aws-sdk-java-v2"],
      Ruby: ["aws-sdk-bedrockruntime"],
      other: ["the aws command"],
    },
  },
  {
    name: "AZURE_OPENAI_ENDPOINT",
    path: "",
    provider: "azure",
    readBy: {
      JavaScript: ["openai (AzureOpenAI)", "@langchain/openai"],
      Python: ["openai (AzureOpenAI)", "langchain-openai"],
    },
  },
  {
    name: "AZURE_OPENAI_BASE_PATH",
    path: "/openai/deployments",
    provider: "azure",
    readBy: { JavaScript: ["@langchain/openai"] },
  },
  { name: "AZURE_API_BASE", path: "", provider: "azure", readBy: { Python: ["LiteLLM"] } },
  { name: "CO_API_URL", path: "", provider: "cohere", readBy: { Python: ["cohere"] } },
  {
    name: "GOOGLE_GEMINI_BASE_URL",
    path: "",
    provider: "gemini",
    readBy: { JavaScript: ["@google/genai"], Python: ["google-genai"] },
  },
  {
    name: "GOOGLE_VERTEX_BASE_URL",
    path: "",
    provider: "vertexai",
    readBy: { JavaScript: ["@google/genai"], Python: ["google-genai"] },
  },
  { name: "GEMINI_API_BASE", path: "/v1beta", provider: "gemini", readBy: { Python: ["LiteLLM"] } },
  {
    name: "GROQ_BASE_URL",
    path: "/groq",
    provider: "groq",
    readBy: { JavaScript: ["groq-sdk"], Python: ["groq"] },
  },
  {
    name: "GROQ_API_BASE",
    path: "/groq/openai/v1",
    provider: "groq",
    readBy: { Python: ["langchain-groq", "LiteLLM"] },
  },
  { name: "MISTRAL_BASE_URL", path: "/mistral/v1", provider: "mistral", readBy: { Python: ["langchain-mistralai"] } },
  { name: "MISTRAL_API_BASE", path: "/mistral/v1", provider: "mistral", readBy: { Python: ["LiteLLM"] } },
  {
    name: "DEEPSEEK_API_BASE",
    path: "/deepseek/v1",
    provider: "deepseek",
    readBy: { Python: ["langchain-deepseek", "LiteLLM"] },
  },
  {
    name: "OPENROUTER_API_BASE",
    path: "/openrouter/api/v1",
    provider: "openrouter",
    readBy: { Python: ["langchain-openrouter", "LiteLLM"] },
  },
  { name: "XAI_API_BASE", path: "/xai/v1", provider: "xai", readBy: { Python: ["LiteLLM"] } },
  { name: "TOGETHER_BASE_URL", path: "/together/v1", provider: "together", readBy: { Python: ["together"] } },
  { name: "TOGETHER_AI_API_BASE", path: "/together/v1", provider: "together", readBy: { Python: ["LiteLLM"] } },
  {
    name: "FIREWORKS_API_BASE",
    path: "/fireworks/inference/v1",
    provider: "fireworks",
    readBy: { Python: ["LiteLLM"] },
  },
  { name: "CEREBRAS_BASE_URL", path: "/cerebras", provider: "cerebras", readBy: { Python: ["cerebras-cloud-sdk"] } },
  { name: "CEREBRAS_API_BASE", path: "/cerebras/v1", provider: "cerebras", readBy: { Python: ["LiteLLM"] } },
  {
    name: "OLLAMA_HOST",
    path: "",
    provider: "ollama",
    readBy: { Python: ["ollama", "langchain-ollama"], Go: ["ollama/api"], other: ["the ollama command"] },
  },
  { name: "OLLAMA_API_BASE", path: "", provider: "ollama", readBy: { Python: ["LiteLLM"] } },
];

/**
 * The variables with the address of a double in them; `STUNTDOUBLE_URL` is for clients that read none of the others.
 * @param url without a slash at the end; a scenario may follow it (`http://127.0.0.1:4010/@checkout`)
 */
export function baseUrlVariables(url: string): Record<string, string> {
  return {
    ...Object.fromEntries(BASE_URL_VARIABLES.map(({ name, path }) => [name, url + path])),
    STUNTDOUBLE_URL: url,
  };
}

/**
 * Leads every SDK of this process to a double.
 * @returns puts everything back as it was
 */
export function patchEnvironment(url: string): () => void {
  const variables = baseUrlVariables(url);
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}
