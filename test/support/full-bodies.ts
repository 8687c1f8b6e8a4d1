/** Data that is base64 of nothing in particular. */
const DATA = "aGVsbG8=";
const SCHEMA = { type: "object", properties: { city: { type: "string" } } };
const CALL = { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"SF"}' } };

const chat = {
  model: "m",
  messages: [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${DATA}`, detail: "low" } },
        { type: "input_audio", input_audio: { data: DATA, format: "wav" } },
        { type: "file", file: { file_data: `data:application/pdf;base64,${DATA}`, filename: "a.pdf" } },
      ],
    },
    { role: "assistant", content: null, tool_calls: [CALL] },
    { role: "tool", tool_call_id: "call_1", content: "Fog." },
  ],
  models: ["m", "n"],
  n: 1,
  stream: false,
  stream_options: { include_usage: true },
  max_tokens: 5,
  temperature: 1,
  stop: ["x"],
  tools: [{ type: "function", function: { name: "weather", parameters: SCHEMA } }],
  tool_choice: { type: "function", function: { name: "weather" } },
  functions: [{ name: "old", parameters: SCHEMA }],
  response_format: { type: "json_schema", json_schema: { name: "answer", schema: SCHEMA } },
  provider: { allow_fallbacks: true, order: ["a"] },
};

const completion = {
  model: "m",
  prompt: ["Once", [1, 2]],
  n: 2,
  stream: false,
  echo: false,
  max_tokens: 5,
  temperature: 1,
  stop: ["x"],
  stream_options: { include_usage: true },
};

const items = [
  { role: "developer", content: "Be brief." },
  {
    type: "message",
    role: "user",
    content: [
      { type: "input_text", text: "What is this?" },
      { type: "input_image", image_url: `data:image/png;base64,${DATA}`, detail: "low" },
      { type: "input_file", file_data: `data:application/pdf;base64,${DATA}`, filename: "a.pdf" },
      { type: "input_audio", input_audio: { data: DATA, format: "wav" } },
    ],
  },
  { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Look." }], encrypted_content: "abc" },
  { type: "function_call", id: "fc_1", call_id: "call_1", name: "weather", arguments: "{}" },
  { type: "function_call_output", call_id: "call_1", output: [{ type: "input_text", text: "Fog." }] },
  { type: "custom_tool_call", call_id: "call_2", name: "shell", input: "ls" },
  { type: "custom_tool_call_output", call_id: "call_2", output: "a.txt" },
  { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "fog" } },
  { type: "message", role: "assistant", content: [{ type: "output_text", text: "Fog.", annotations: [] }] },
];

const responses = {
  model: "m",
  models: ["m", "n"],
  input: items,
  items,
  instructions: "Be brief.",
  stream: false,
  store: true,
  background: false,
  include: ["reasoning.encrypted_content"],
  metadata: { trace: "1" },
  reasoning: { effort: "low", summary: "auto" },
  text: { format: { type: "json_schema", name: "answer", schema: SCHEMA } },
  tools: [
    { type: "function", name: "weather", parameters: SCHEMA },
    { type: "custom", name: "shell" },
    { type: "web_search" },
    { type: "mcp", server_label: "notes", server_url: "https://notes.example" },
  ],
  tool_choice: { type: "function", name: "weather" },
  max_output_tokens: 5,
  temperature: 1,
};

const claude = {
  model: "claude",
  anthropic_version: "bedrock-2023-05-31",
  max_tokens: 5,
  stream: false,
  temperature: 1,
  stop_sequences: ["x"],
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: DATA } },
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: DATA } },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "words" } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Look.", signature: "abc" },
        { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "SF" } },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "toolu_1",
          content: [
            { type: "text", text: "Fog." },
            { type: "image", source: { type: "base64", media_type: "image/png", data: DATA } },
          ],
        },
      ],
    },
  ],
  tools: [{ name: "weather", input_schema: SCHEMA }],
  tool_choice: { type: "tool", name: "weather" },
  thinking: { type: "enabled", budget_tokens: 1024 },
  output_config: { format: { type: "json_schema", schema: SCHEMA } },
  metadata: { user_id: "u" },
};

const converse = {
  system: [{ text: "Be brief." }, { cachePoint: { type: "default" } }],
  messages: [
    {
      role: "user",
      content: [
        { text: "What is this?" },
        { image: { format: "png", source: { bytes: DATA } } },
        { document: { format: "pdf", name: "a", source: { bytes: DATA } } },
        { video: { format: "mp4", source: { s3Location: { uri: "s3://a/b" } } } },
      ],
    },
    {
      role: "assistant",
      content: [
        { reasoningContent: { reasoningText: { text: "Look.", signature: "abc" } } },
        { reasoningContent: { redactedContent: DATA } },
        { citationsContent: { content: [{ text: "Fog." }], citations: [] } },
        { toolUse: { toolUseId: "tooluse_1", name: "weather", input: { city: "SF" } } },
      ],
    },
    {
      role: "user",
      content: [
        { toolResult: { toolUseId: "tooluse_1", content: [{ text: "Fog." }, { json: { a: 1 } }], status: "success" } },
      ],
    },
  ],
  inferenceConfig: { maxTokens: 5, temperature: 1, topP: 1, stopSequences: ["x"], max_new_tokens: 5 },
  toolConfig: {
    tools: [{ toolSpec: { name: "weather", inputSchema: { json: SCHEMA } } }, { cachePoint: { type: "default" } }],
    toolChoice: { tool: { name: "weather" } },
  },
  outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema: { schema: "{}" } } } },
  additionalModelRequestFields: { top_k: 1 },
  additionalModelResponseFieldPaths: ["/stop_sequence"],
};

const gemini = {
  contents: [
    {
      role: "user",
      parts: [
        { text: "What is this?" },
        { inlineData: { mimeType: "image/png", data: DATA } },
        { fileData: { fileUri: "gs://a/b", mimeType: "image/png" } },
      ],
    },
    {
      role: "model",
      parts: [
        { text: "Look.", thought: true, thoughtSignature: DATA },
        { functionCall: { id: "1", name: "weather", args: { city: "SF" } } },
      ],
    },
    {
      role: "user",
      parts: [
        {
          functionResponse: {
            id: "1",
            name: "weather",
            response: { result: "Fog." },
            parts: [{ inlineData: { mimeType: "image/png", data: DATA } }],
          },
        },
      ],
    },
  ],
  systemInstruction: { parts: [{ text: "Be brief." }] },
  tools: [{ functionDeclarations: [{ name: "weather", parameters: SCHEMA }] }, { googleSearch: {} }],
  toolConfig: {
    functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["weather"], streamFunctionCallArguments: true },
  },
  generationConfig: {
    candidateCount: 1,
    temperature: 1,
    maxOutputTokens: 5,
    stopSequences: ["x"],
    responseMimeType: "application/json",
    responseJsonSchema: SCHEMA,
    thinkingConfig: { includeThoughts: true },
  },
  safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
};

const content = { parts: [{ text: "fog" }] };
const geminiEmbeddings = {
  content,
  embedContentConfig: { outputDimensionality: 3 },
  requests: [{ model: "models/m", content, outputDimensionality: 3 }],
  instances: [{ content: "fog", task_type: "RETRIEVAL_QUERY" }],
  parameters: { outputDimensionality: 3, autoTruncate: true },
};

const interaction = {
  model: "m",
  stream: false,
  store: true,
  background: false,
  system_instruction: "Be brief.",
  input: [
    {
      type: "user_input",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image", data: DATA, mime_type: "image/png" },
      ],
    },
    { type: "thought", signature: DATA, summary: [{ type: "text", text: "Look." }] },
    { type: "function_call", id: "1", name: "weather", arguments: { city: "SF" } },
    { type: "function_result", call_id: "1", name: "weather", result: [{ type: "text", text: "Fog." }] },
    { type: "model_output", content: [{ type: "text", text: "Fog." }] },
  ],
  tools: [{ type: "function", name: "weather", parameters: SCHEMA }, { type: "google_search" }],
  response_format: { type: "text", mime_type: "application/json", schema: SCHEMA },
  response_modalities: ["text"],
  generation_config: { temperature: 1, max_output_tokens: 5, stop_sequences: ["x"], thinking_level: "low" },
};

const ollama = {
  model: "m",
  stream: false,
  prompt: "Once",
  system: "Be brief.",
  suffix: "end",
  images: [DATA],
  messages: [
    { role: "user", content: "What is this?", images: [DATA] },
    {
      role: "assistant",
      content: "",
      thinking: "Look.",
      tool_calls: [{ function: { name: "weather", arguments: {} } }],
    },
    { role: "tool", content: "Fog.", tool_name: "weather" },
  ],
  tools: [{ type: "function", function: { name: "weather", parameters: SCHEMA } }],
  format: SCHEMA,
  think: true,
  options: { temperature: 1, num_predict: 5, stop: ["x"] },
  keep_alive: "5m",
  input: ["fog"],
  dimensions: 3,
};

const cohere = {
  model: "m",
  stream: false,
  messages: [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${DATA}` } },
      ],
    },
    { role: "assistant", tool_plan: "Look.", tool_calls: [CALL] },
    { role: "tool", tool_call_id: "call_1", content: [{ type: "document", document: { id: "1", data: { a: "b" } } }] },
  ],
  documents: [{ id: "1", data: { text: "Fog." } }],
  tools: [{ type: "function", function: { name: "weather", parameters: SCHEMA } }],
  response_format: { type: "json_object", json_schema: SCHEMA },
  thinking: { type: "enabled", token_budget: 5 },
  citation_options: { mode: "FAST" },
  max_tokens: 5,
  temperature: 1,
  stop_sequences: ["x"],
  texts: ["fog"],
  images: [],
  inputs: [{ content: [{ type: "text", text: "fog" }] }],
  input_type: "search_query",
  embedding_types: ["float", "base64"],
  output_dimension: 8,
};

const text = { prompt: "Once", max_gen_len: 5, max_tokens: 5, temperature: 1, top_p: 1, stop: ["x"], images: [DATA] };
const titan = {
  inputText: "Once",
  inputImage: DATA,
  embeddingConfig: { outputEmbeddingLength: 8 },
  textGenerationConfig: { maxTokenCount: 5, temperature: 1, stopSequences: ["x"] },
  dimensions: 8,
  normalize: true,
  embeddingTypes: ["float", "binary"],
};
const embedding = { model: "m", input: ["fog", [1, 2]], dimensions: 3, encoding_format: "float", user: "u" };

/**
 * What can be asked of an operation, as much of it as one request holds: what is changed somewhere in it is read
 * by someone. By the operation's name in the registry; the first that fits.
 */
const BODIES: [RegExp, object][] = [
  [/^ollama-openai/, chat],
  // It is told by what it lacks.
  [/^ollama-load/, { model: "m" }],
  [/^ollama/, ollama],
  [/cohere/, cohere],
  [/anthropic/, claude],
  [/^bedrock-(converse|invoke-nova)/, converse],
  [/^bedrock-count-tokens/, { input: { converse } }],
  [/^bedrock-invoke-openai/, chat],
  [/titan/, titan],
  [/^bedrock-invoke/, text],
  [/^gemini-embeddings/, geminiEmbeddings],
  [/^gemini-interactions/, interaction],
  [/^gemini/, gemini],
  [/-embeddings$/, embedding],
  [/-completions$/, completion],
  [/-(responses|conversations)/, responses],
  [/-chat$/, chat],
];

export function fullBody(operation: string): object {
  return BODIES.find(([pattern]) => pattern.test(operation))?.[1] ?? { model: "m" };
}

/** The paths of an operation of Bedrock's, which all have one route: the model in it says whose form the body has. */
export function bedrockPaths(operation: string): string[] {
  const [model, ...actions] = BEDROCK[operation] ?? [];
  return actions.map((action) => `/model/${model}/${action}`);
}

const BEDROCK: Record<string, string[]> = {
  "bedrock-converse": ["amazon.nova-pro-v1:0", "converse", "converse-stream"],
  "bedrock-count-tokens": ["amazon.nova-pro-v1:0", "count-tokens"],
  "bedrock-invoke-anthropic": ["anthropic.claude-sonnet-4", "invoke", "invoke-with-response-stream"],
  "bedrock-invoke-nova": ["amazon.nova-pro-v1:0", "invoke", "invoke-with-response-stream"],
  "bedrock-invoke-openai": ["openai.gpt-oss-120b", "invoke", "invoke-with-response-stream"],
  "bedrock-invoke-llama": ["meta.llama3-3-70b", "invoke", "invoke-with-response-stream"],
  "bedrock-invoke-mistral": ["mistral.mistral-7b-instruct-v0:2", "invoke", "invoke-with-response-stream"],
  "bedrock-invoke-titan": ["amazon.titan-text-express-v1", "invoke", "invoke-with-response-stream"],
  "bedrock-titan-embeddings": ["amazon.titan-embed-text-v2:0", "invoke"],
  "bedrock-titan-image-embeddings": ["amazon.titan-embed-image-v1", "invoke"],
  "bedrock-cohere-embeddings": ["cohere.embed-v4:0", "invoke"],
};
