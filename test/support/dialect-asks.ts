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

type Say = (role: "user" | "assistant", text: string | undefined) => object;

/** What has been said so far, in a dialect's words, and the call of a tool with its result. */
function said(
  { user, earlier = [], tool }: Ask,
  say: Say,
  call: (tool: NonNullable<Ask["tool"]>) => object[],
): object[] {
  return [
    ...earlier.flatMap((text) => [say("user", text), say("assistant", "yes")]),
    say("user", user),
    ...(tool === undefined ? [] : call(tool)),
  ];
}

const plain: Say = (role, content) => ({ role, content });

function openAI(ask: Ask): Record<string, unknown> {
  return {
    model: ask.model ?? "some-model",
    messages: [
      ...(ask.system ?? []).map((content) => ({ role: "system", content })),
      ...said(ask, plain, ({ id, name, result }) => [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id, type: "function", function: { name, arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: id, content: result },
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
  if (ask.format !== undefined) return undefined;
  const system = systemOf(ask);
  return {
    max_tokens: 100,
    ...(system !== undefined && { system }),
    messages: said(ask, plain, ({ id, name, result }) => [
      { role: "assistant", content: [{ type: "tool_use", id, name, input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: result }] },
    ]),
    ...(ask.tools && { tools: ask.tools.map((name) => ({ name, input_schema: SCHEMA })) }),
  };
}

function gemini(ask: Ask): Record<string, unknown> {
  const system = systemOf(ask);
  return {
    ...(system !== undefined && { systemInstruction: { parts: [{ text: system }] } }),
    contents: said(
      ask,
      (role, text) => ({ role: role === "user" ? role : "model", parts: [{ text }] }),
      ({ id, name, result }) => [
        { role: "model", parts: [{ functionCall: { id, name, args: {} } }] },
        { role: "user", parts: [{ functionResponse: { id, name, response: { result } } }] },
      ],
    ),
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
  return {
    model: ask.model ?? "some-model",
    input: [
      ...(ask.system ?? []).map((content) => ({ role: "system", content })),
      ...said(ask, plain, ({ id, name, result }) => [
        { type: "function_call", call_id: id, name, arguments: "{}" },
        { type: "function_call_output", call_id: id, output: result },
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
    messages: said(
      ask,
      (role, text) => ({ role, content: [{ text }] }),
      ({ id, name, result }) => [
        { role: "assistant", content: [{ toolUse: { toolUseId: id, name, input: {} } }] },
        { role: "user", content: [{ toolResult: { toolUseId: id, content: [{ text: result }] } }] },
      ],
    ),
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
  const system = systemOf(ask);
  return {
    model: ask.model ?? "gemini-3",
    ...(system !== undefined && { system_instruction: system }),
    input: said(
      ask,
      (role, text) => ({ type: role === "user" ? "user_input" : "model_output", content: [{ type: "text", text }] }),
      ({ id, name, result }) => [
        { type: "function_call", id, name, arguments: {} },
        { type: "function_result", call_id: id, name, result },
      ],
    ),
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
