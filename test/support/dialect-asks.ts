/** A request in no dialect's words. */
export interface Ask {
  user?: string;
  system?: string[];
  /** Each was said by the user, and answered. */
  earlier?: string[];
  /** A call that the model made, and its result. */
  tool?: { id: string; name: string; result: string };
  tools?: string[];
  model?: string;
  format?: "json_object" | "json_schema";
  context?: string;
  testId?: string;
  /** What is to be embedded, instead of a conversation. */
  input?: string;
}

export interface Sent {
  path: string;
  body: unknown;
}

/** Writes a request in the words of a dialect; undefined where those have no word for it. */
export type Write = (ask: Ask) => Sent | undefined;

const SCHEMA = { type: "object", properties: {} };
const systemOf = (ask: Ask): string | undefined => ask.system?.join("\n");

function openAI(ask: Ask): Record<string, unknown> {
  const { tool } = ask;
  return {
    model: ask.model ?? "some-model",
    messages: [
      ...(ask.system ?? []).map((content) => ({ role: "system", content })),
      ...(ask.earlier ?? []).flatMap((content) => [
        { role: "user", content },
        { role: "assistant", content: "yes" },
      ]),
      { role: "user", content: ask.user },
      ...(tool === undefined
        ? []
        : [
            {
              role: "assistant",
              content: null,
              tool_calls: [{ id: tool.id, type: "function", function: { name: tool.name, arguments: "{}" } }],
            },
            { role: "tool", tool_call_id: tool.id, content: tool.result },
          ]),
    ],
    ...(ask.tools && {
      tools: ask.tools.map((name) => ({ type: "function", function: { name, parameters: SCHEMA } })),
    }),
    ...(ask.format && {
      response_format:
        ask.format === "json_object"
          ? { type: "json_object" }
          : { type: "json_schema", json_schema: { name: "x", schema: SCHEMA } },
    }),
  };
}

function anthropic(ask: Ask): Record<string, unknown> | undefined {
  const { tool } = ask;
  if (ask.format !== undefined) return undefined;
  const system = systemOf(ask);
  return {
    max_tokens: 100,
    ...(system !== undefined && { system }),
    messages: [
      ...(ask.earlier ?? []).flatMap((content) => [
        { role: "user", content },
        { role: "assistant", content: "yes" },
      ]),
      { role: "user", content: ask.user },
      ...(tool === undefined
        ? []
        : [
            { role: "assistant", content: [{ type: "tool_use", id: tool.id, name: tool.name, input: {} }] },
            { role: "user", content: [{ type: "tool_result", tool_use_id: tool.id, content: tool.result }] },
          ]),
    ],
    ...(ask.tools && { tools: ask.tools.map((name) => ({ name, input_schema: SCHEMA })) }),
  };
}

function gemini(ask: Ask): Record<string, unknown> {
  const { tool } = ask;
  const system = systemOf(ask);
  return {
    ...(system !== undefined && { systemInstruction: { parts: [{ text: system }] } }),
    contents: [
      ...(ask.earlier ?? []).flatMap((text) => [
        { role: "user", parts: [{ text }] },
        { role: "model", parts: [{ text: "yes" }] },
      ]),
      { role: "user", parts: [{ text: ask.user }] },
      ...(tool === undefined
        ? []
        : [
            { role: "model", parts: [{ functionCall: { id: tool.id, name: tool.name, args: {} } }] },
            {
              role: "user",
              parts: [{ functionResponse: { id: tool.id, name: tool.name, response: { result: tool.result } } }],
            },
          ]),
    ],
    ...(ask.tools && { tools: [{ functionDeclarations: ask.tools.map((name) => ({ name, parameters: SCHEMA })) }] }),
    ...(ask.format && {
      generationConfig: {
        responseMimeType: "application/json",
        ...(ask.format === "json_schema" && { responseSchema: SCHEMA }),
      },
    }),
  };
}

/** Gemini's tool results are objects, so that no text of one is the whole. */
const wholeResultOnly = (ask: Ask): boolean => ask.tool !== undefined && ["done", "not done"].includes(ask.tool.result);

function responses(ask: Ask): Record<string, unknown> {
  const { tool } = ask;
  return {
    model: ask.model ?? "some-model",
    input: [
      ...(ask.system ?? []).map((content) => ({ role: "system", content })),
      ...(ask.earlier ?? []).flatMap((content) => [
        { role: "user", content },
        { role: "assistant", content: "yes" },
      ]),
      { role: "user", content: ask.user },
      ...(tool === undefined
        ? []
        : [
            { type: "function_call", call_id: tool.id, name: tool.name, arguments: "{}" },
            { type: "function_call_output", call_id: tool.id, output: tool.result },
          ]),
    ],
    ...(ask.tools && { tools: ask.tools.map((name) => ({ type: "function", name, parameters: SCHEMA })) }),
    ...(ask.format && {
      text: {
        format:
          ask.format === "json_object" ? { type: "json_object" } : { type: "json_schema", name: "x", schema: SCHEMA },
      },
    }),
  };
}

function converse(ask: Ask): Record<string, unknown> | undefined {
  const { tool } = ask;
  if (ask.format !== undefined) return undefined;
  const tools = ask.tools ?? (tool && [tool.name]);
  return {
    ...(ask.system && { system: ask.system.map((text) => ({ text })) }),
    messages: [
      ...(ask.earlier ?? []).flatMap((text) => [
        { role: "user", content: [{ text }] },
        { role: "assistant", content: [{ text: "yes" }] },
      ]),
      { role: "user", content: [{ text: ask.user }] },
      ...(tool === undefined
        ? []
        : [
            { role: "assistant", content: [{ toolUse: { toolUseId: tool.id, name: tool.name, input: {} } }] },
            {
              role: "user",
              content: [{ toolResult: { toolUseId: tool.id, content: [{ text: tool.result }] } }],
            },
          ]),
    ],
    ...(tools && {
      toolConfig: { tools: tools.map((name) => ({ toolSpec: { name, inputSchema: { json: SCHEMA } } })) },
    }),
  };
}

function ollama(ask: Ask): Record<string, unknown> | undefined {
  const { tool, format } = ask;
  // Its calls have no ids, and what a call is named by is made here.
  if (tool !== undefined) return undefined;
  const { model, messages, tools } = openAI(ask);
  return {
    model,
    messages,
    stream: false,
    ...(tools !== undefined && { tools }),
    ...(format && { format: format === "json_object" ? "json" : SCHEMA }),
  };
}

function interactions(ask: Ask): Record<string, unknown> {
  const { tool } = ask;
  const system = systemOf(ask);
  const text = (said: string | undefined) => [{ type: "text", text: said }];
  return {
    model: ask.model ?? "gemini-3",
    ...(system !== undefined && { system_instruction: system }),
    input: [
      ...(ask.earlier ?? []).flatMap((said) => [
        { type: "user_input", content: text(said) },
        { type: "model_output", content: text("yes") },
      ]),
      { type: "user_input", content: text(ask.user) },
      ...(tool === undefined
        ? []
        : [
            { type: "function_call", id: tool.id, name: tool.name, arguments: {} },
            { type: "function_result", call_id: tool.id, name: tool.name, result: tool.result },
          ]),
    ],
    ...(ask.tools && { tools: ask.tools.map((name) => ({ type: "function", name, parameters: SCHEMA })) }),
    ...(ask.format && {
      response_format: {
        type: "text",
        mime_type: "application/json",
        ...(ask.format === "json_schema" && { schema: SCHEMA }),
      },
    }),
  };
}

function cohere(ask: Ask): Record<string, unknown> | undefined {
  // A schema is a member of its JSON format, and no format of its own.
  return ask.format === "json_schema" ? undefined : openAI(ask);
}

const at = (path: string, body: Record<string, unknown> | undefined): Sent | undefined => body && { path, body };
const chat =
  (write: Write): Write =>
  (ask) =>
    ask.input === undefined ? write(ask) : undefined;
const embedding =
  (write: (input: string) => Sent): Write =>
  ({ input }) =>
    input === undefined ? undefined : write(input);
const modelOf = (ask: Ask, otherwise: string): string => encodeURIComponent(ask.model ?? otherwise);

/** How each dialect writes a request, by its name in the registry. */
export const WRITERS: Readonly<Record<string, Write>> = {
  "openai-chat": chat((ask) => at("/v1/chat/completions", openAI(ask))),
  openrouter: chat((ask) => at("/api/v1/chat/completions", openAI(ask))),
  mistral: chat((ask) => at("/mistral/v1/chat/completions", openAI(ask))),
  azure: chat((ask) =>
    at(`/openai/deployments/${modelOf(ask, "gpt-4o")}/chat/completions?api-version=2024-10-21`, openAI(ask)),
  ),
  "openai-responses": chat((ask) => at("/v1/responses", responses(ask))),
  "openai-completions": chat((ask) => {
    const { user, model = "some-model", context: _, testId: __, ...more } = ask;
    return Object.keys(more).length > 0 ? undefined : { path: "/v1/completions", body: { model, prompt: user } };
  }),
  anthropic: chat((ask) => {
    const body = anthropic(ask);
    return body && at("/v1/messages", { model: ask.model ?? "claude-4", ...body });
  }),
  "bedrock-converse": chat((ask) => at(`/model/${modelOf(ask, "anthropic.claude-4")}/converse`, converse(ask))),
  "bedrock-invoke": chat((ask) => {
    const body = ask.model === undefined ? anthropic(ask) : undefined;
    return body && at("/model/anthropic.claude-4/invoke", { anthropic_version: "bedrock-2023-05-31", ...body });
  }),
  cohere: chat((ask) => at("/v2/chat", cohere(ask))),
  gemini: chat((ask) =>
    wholeResultOnly(ask) ? undefined : at(`/v1beta/models/${modelOf(ask, "gemini-3")}:generateContent`, gemini(ask)),
  ),
  vertex: chat((ask) =>
    wholeResultOnly(ask)
      ? undefined
      : at(
          `/v1/projects/p/locations/l/publishers/google/models/${modelOf(ask, "gemini-3")}:generateContent`,
          gemini(ask),
        ),
  ),
  "gemini-interactions": chat((ask) => at("/v1beta/interactions", interactions(ask))),
  ollama: chat((ask) => at("/api/chat", ollama(ask))),
  "openai-embeddings": embedding((input) => ({ path: "/v1/embeddings", body: { model: "embed", input } })),
  "azure-embeddings": embedding((input) => ({
    path: "/openai/deployments/embed/embeddings?api-version=2024-10-21",
    body: { input },
  })),
  "gemini-embeddings": embedding((input) => ({
    path: "/v1beta/models/embed:embedContent",
    body: { content: { parts: [{ text: input }] } },
  })),
  "cohere-embeddings": embedding((input) => ({
    path: "/v2/embed",
    body: { model: "embed-v4.0", texts: [input], input_type: "search_query", embedding_types: ["float"] },
  })),
  "ollama-embeddings": embedding((input) => ({ path: "/api/embed", body: { model: "embed", input } })),
  "bedrock-embeddings": embedding((inputText) => ({
    path: "/model/amazon.titan-embed-text-v2:0/invoke",
    body: { inputText },
  })),
};
