/** One call of each provider API that answers like a model: what is sent, without any client. */
export interface ProviderCall {
  /** Of the operation in the registry. */
  operation: string;
  /** As its column of the provider matrix is called. */
  title: string;
  path(streamed: boolean): string;
  body(prompt: string, streamed: boolean): object;
  headers?: Record<string, string>;
}

const messages = (content: unknown) => [{ role: "user", content }];

function responses(operation: string, title: string, path: string, model: string): ProviderCall {
  return { operation, title, path: () => path, body: (input, stream) => ({ model, input, stream }) };
}

/** Chat completions, wherever they are served. */
function completions(operation: string, title: string, path: string, headers?: Record<string, string>): ProviderCall {
  return {
    operation,
    title,
    path: () => path,
    body: (prompt, stream) => ({
      model: "openai/gpt-5",
      messages: messages(prompt),
      ...(stream && { stream, stream_options: { include_usage: true } }),
    }),
    ...(headers && { headers }),
  };
}

function invoke(operation: string, title: string, model: string, body: (prompt: string) => object): ProviderCall {
  const action = (streamed: boolean) => (streamed ? "invoke-with-response-stream" : "invoke");
  return { operation, title, path: (streamed) => `/model/${model}/${action(streamed)}`, body };
}

const claude = (prompt: string) => ({ max_tokens: 100, messages: messages(prompt) });
const bedrockClaude = (prompt: string) => ({ anthropic_version: "bedrock-2023-05-31", ...claude(prompt) });
const contents = (prompt: string) => ({ contents: [{ role: "user", parts: [{ text: prompt }] }] });
const generate = (streamed: boolean) => (streamed ? "streamGenerateContent?alt=sse" : "generateContent");
const VERTEX = "/v1/projects/p/locations/europe-west1/publishers";

export const providerCalls: readonly ProviderCall[] = [
  completions("openai-chat", "OpenAI Chat", "/v1/chat/completions"),
  responses("openai-responses", "OpenAI Responses", "/v1/responses", "gpt-5"),
  {
    operation: "openai-completions",
    title: "OpenAI Completions",
    path: () => "/v1/completions",
    body: (prompt, stream) => ({
      model: "gpt-3.5-turbo-instruct",
      prompt,
      stream,
      stream_options: { include_usage: true },
    }),
  },
  {
    operation: "anthropic-messages",
    title: "Claude",
    path: () => "/v1/messages",
    body: (prompt, stream) => ({ model: "claude-sonnet-5", ...claude(prompt), stream }),
  },
  {
    operation: "vertex-anthropic-messages",
    title: "Claude on Vertex AI",
    path: (streamed) => `${VERTEX}/anthropic/models/claude-sonnet-5:${streamed ? "streamRawPredict" : "rawPredict"}`,
    body: (prompt, stream) => ({ anthropic_version: "vertex-2023-10-16", ...claude(prompt), stream }),
  },
  {
    operation: "gemini-generate",
    title: "Gemini",
    path: (streamed) => `/v1beta/models/gemini-2.5-flash:${generate(streamed)}`,
    body: contents,
  },
  {
    operation: "gemini-interactions",
    title: "Gemini Interactions",
    path: () => "/v1beta/interactions",
    body: (input, stream) => ({ model: "gemini-2.5-flash", input, stream }),
  },
  {
    operation: "bedrock-converse",
    title: "Bedrock Converse",
    path: (streamed) => `/model/us.amazon.nova-pro-v1:0/${streamed ? "converse-stream" : "converse"}`,
    body: (prompt) => ({ messages: messages([{ text: prompt }]) }),
  },
  invoke(
    "bedrock-invoke-anthropic",
    "Bedrock Invoke, Claude",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    bedrockClaude,
  ),
  invoke("bedrock-invoke-nova", "Bedrock Invoke, Nova", "us.amazon.nova-pro-v1:0", (prompt) => ({
    messages: messages([{ text: prompt }]),
  })),
  invoke("bedrock-invoke-openai", "Bedrock Invoke, OpenAI", "openai.gpt-oss-120b-1:0", (prompt) => ({
    messages: messages(prompt),
  })),
  invoke("bedrock-invoke-llama", "Bedrock Invoke, Llama", "us.meta.llama3-3-70b-instruct-v1:0", (prompt) => ({
    prompt,
  })),
  invoke("bedrock-invoke-mistral", "Bedrock Invoke, Mistral", "mistral.mistral-7b-instruct-v0:2", (prompt) => ({
    prompt,
  })),
  invoke("bedrock-invoke-titan", "Bedrock Invoke, Titan", "amazon.titan-text-express-v1", (inputText) => ({
    inputText,
  })),
  completions("azure-chat", "Azure", "/openai/deployments/gpt/chat/completions?api-version=2025-04-01-preview"),
  {
    operation: "azure-completions",
    title: "Azure Completions",
    path: () => "/openai/deployments/gpt/completions?api-version=2025-04-01-preview",
    body: (prompt, stream) => ({ prompt, stream, stream_options: { include_usage: true } }),
  },
  {
    operation: "azure-responses",
    title: "Azure Responses",
    path: () => "/openai/v1/responses",
    headers: { "api-key": "x" },
    body: (input, stream) => ({ model: "my-gpt", input, stream }),
  },
  {
    operation: "ollama-chat",
    title: "Ollama",
    path: () => "/api/chat",
    body: (prompt, stream) => ({ model: "llama3.2", messages: messages(prompt), stream }),
  },
  {
    operation: "ollama-generate",
    title: "Ollama Generate",
    path: () => "/api/generate",
    body: (prompt, stream) => ({ model: "llama3.2", prompt, stream }),
  },
  completions("ollama-openai-chat", "Ollama Completions", "/ollama/v1/chat/completions"),
  {
    operation: "cohere-chat",
    title: "Cohere",
    path: () => "/v2/chat",
    body: (prompt, stream) => ({ model: "command-a-03-2025", messages: messages(prompt), stream }),
  },
  completions("openrouter-chat", "OpenRouter", "/api/v1/chat/completions"),
  responses("openrouter-responses", "OpenRouter Responses", "/api/v1/responses", "openai/gpt-5"),
  completions("mistral-chat", "Mistral", "/mistral/v1/chat/completions"),
  completions("groq-chat", "Groq", "/groq/openai/v1/chat/completions"),
  completions("deepseek-chat", "DeepSeek", "/deepseek/chat/completions"),
  completions("xai-chat", "xAI", "/xai/v1/chat/completions"),
  responses("xai-responses", "xAI Responses", "/xai/v1/responses", "grok-4"),
  completions("perplexity-chat", "Perplexity", "/perplexity/chat/completions"),
  completions("zai-chat", "Z.ai", "/api/paas/v4/chat/completions"),
  completions("cerebras-chat", "Cerebras", "/cerebras/v1/chat/completions"),
  completions("together-chat", "Together", "/together/v1/chat/completions"),
  completions("huggingface-chat", "Hugging Face", "/huggingface/v1/chat/completions"),
];

export interface WireAnswer {
  status: number;
  contentType: string;
  /** What AWS tells in the head, a line each. */
  head: string;
  /** With what AWS wraps in base64 as it is inside. */
  text: string;
}

/** @param fetch of a double */
export async function sendCall(
  fetch: typeof globalThis.fetch,
  { path, body, headers = {} }: ProviderCall,
  prompt: string,
  streamed: boolean,
): Promise<WireAnswer> {
  const response = await fetch(`http://double${path(streamed)}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body(prompt, streamed)),
  });
  const text = Buffer.from(await response.arrayBuffer()).toString("utf8");
  return {
    status: response.status,
    contentType: response.headers.get("content-type") ?? "",
    head: [...response.headers]
      .flatMap(([name, value]) => (name.startsWith("x-amzn-bedrock-") ? [`${name}: ${value}`] : []))
      .join("\n"),
    text: text.replace(/"bytes":"([A-Za-z0-9+/=]+)"/g, (_, bytes) => Buffer.from(bytes, "base64").toString("utf8")),
  };
}
