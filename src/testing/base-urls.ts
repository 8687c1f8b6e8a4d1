/** Where an SDK looks for the address of its provider. */
export interface BaseUrlVariable {
  /** The environment variable. */
  name: string;
  /** What follows the double's URL in it. */
  path: string;
  /** Who reads it. */
  readBy: string;
}

/**
 * The variables that lead SDKs to a double. A variable is on the list when the SDK itself reads it, so that no code
 * has to change. Two SDKs may disagree on what belongs in one: then it is the longer form, since a double finds its
 * paths behind any prefix.
 */
export const BASE_URL_VARIABLES: readonly BaseUrlVariable[] = [
  { name: "OPENAI_BASE_URL", path: "/v1", readBy: "openai (Node, Python), @ai-sdk/openai, LangChain" },
  { name: "OPENAI_API_BASE", path: "/v1", readBy: "LangChain, older OpenAI clients" },
  { name: "ANTHROPIC_BASE_URL", path: "/v1", readBy: "@anthropic-ai/sdk and anthropic (Python), @ai-sdk/anthropic" },
  { name: "ANTHROPIC_BEDROCK_BASE_URL", path: "", readBy: "@anthropic-ai/bedrock-sdk" },
  { name: "ANTHROPIC_VERTEX_BASE_URL", path: "/v1", readBy: "@anthropic-ai/vertex-sdk" },
  { name: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", path: "", readBy: "AWS SDKs for Bedrock" },
  { name: "AZURE_OPENAI_ENDPOINT", path: "", readBy: "AzureOpenAI of openai" },
  { name: "CO_API_URL", path: "", readBy: "cohere (Python)" },
  { name: "GOOGLE_GEMINI_BASE_URL", path: "", readBy: "@google/genai, google-genai (Python)" },
  { name: "GOOGLE_VERTEX_BASE_URL", path: "", readBy: "@google/genai, google-genai (Python)" },
  { name: "GROQ_BASE_URL", path: "/groq", readBy: "groq-sdk, groq (Python)" },
  { name: "OLLAMA_HOST", path: "", readBy: "ollama (Python), the ollama command" },
];

/** @param url of a double, without a slash at the end */
export function baseUrlVariables(url: string): Record<string, string> {
  return Object.fromEntries(BASE_URL_VARIABLES.map(({ name, path }) => [name, url + path]));
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
