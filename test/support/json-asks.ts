/** How a provider's calls ask for JSON: members of the body, without a schema and with one. */
export interface JsonAsk {
  any?: object;
  schema?: object;
}

const SCHEMA = { type: "object", properties: { capital: { type: "string" } }, required: ["capital"] };
const named = { name: "answer", schema: SCHEMA };

const completions: JsonAsk = {
  any: { response_format: { type: "json_object" } },
  schema: { response_format: { type: "json_schema", json_schema: named } },
};
const responses: JsonAsk = {
  any: { text: { format: { type: "json_object" } } },
  schema: { text: { format: { type: "json_schema", ...named } } },
};
const claude: JsonAsk = { schema: { output_config: { format: { type: "json_schema", schema: SCHEMA } } } };
const converse: JsonAsk = {
  schema: {
    outputConfig: {
      textFormat: {
        type: "json_schema",
        structure: { jsonSchema: { name: "answer", schema: JSON.stringify(SCHEMA) } },
      },
    },
  },
};
const ollama: JsonAsk = { any: { format: "json" }, schema: { format: SCHEMA } };

/** By operation; those that are not here cannot be asked for JSON. */
export const jsonAsks: Readonly<Record<string, JsonAsk>> = {
  "openai-chat": completions,
  "openai-responses": responses,
  "anthropic-messages": claude,
  "vertex-anthropic-messages": claude,
  "gemini-generate": {
    any: { generationConfig: { responseMimeType: "application/json" } },
    schema: { generationConfig: { responseMimeType: "application/json", responseJsonSchema: SCHEMA } },
  },
  "gemini-interactions": {
    any: { response_format: { type: "text", mime_type: "application/json" } },
    schema: { response_format: { type: "text", mime_type: "application/json", schema: SCHEMA } },
  },
  "bedrock-converse": converse,
  "bedrock-invoke-anthropic": claude,
  "bedrock-invoke-nova": converse,
  "bedrock-invoke-openai": completions,
  "azure-chat": completions,
  "azure-responses": responses,
  "ollama-chat": ollama,
  "ollama-generate": ollama,
  "ollama-openai-chat": completions,
  "cohere-chat": {
    any: { response_format: { type: "json_object" } },
    schema: { response_format: { type: "json_object", json_schema: SCHEMA } },
  },
  "openrouter-chat": completions,
  "openrouter-responses": responses,
  "mistral-chat": completions,
  "groq-chat": completions,
  "deepseek-chat": { any: completions.any },
  "xai-chat": completions,
  "xai-responses": responses,
  "perplexity-chat": { schema: completions.schema },
  "zai-chat": { any: completions.any },
  "cerebras-chat": completions,
  "together-chat": completions,
  "huggingface-chat": completions,
};
