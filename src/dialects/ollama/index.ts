import type { ChatReply } from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { ChatView, PlainView } from "../../chat/view.ts";
import { type Dialect, defineOperation } from "../operation.ts";
import { type JsonObject, jsonObject, type RawRequest } from "../raw-request.ts";
import { modelOf } from "./check.ts";
import { encodeOllamaError, encodeOllamaStreamError } from "./errors.ts";
import { decodeOllamaModels, encodeOllamaModels, type OllamaModelsRequest } from "./models.ts";
import { decodeOllamaChat, decodeOllamaGenerate } from "./request.ts";
import { chatForm, encodeOllama, type Form, generateForm, OLLAMA } from "./response.ts";
import { ollamaRules } from "./rules.ts";
import { encodeOllamaStream } from "./stream.ts";

const common = {
  dialect: OLLAMA,
  variant: () => ({}),
  encodeError: encodeOllamaError,
  encodeStreamError: encodeOllamaStreamError,
};

function conversation(name: string, path: string, form: Form, decode: (raw: RawRequest) => ChatRequest) {
  return defineOperation<ChatRequest, ChatReply, Record<string, never>>({
    ...common,
    name,
    endpoint: "chat",
    output: "chat",
    routes: [{ method: "POST", path }],
    decode,
    view: (request) => new ChatView(request),
    streamed: (request) => request.stream === true,
    encode: (reply, context) => encodeOllama(form, reply, context),
    encodeStream: (reply, context) => encodeOllamaStream(form, reply, context),
    framing: "ndjson",
    rules: ollamaRules,
  });
}

const CHAT = "/api/chat";
const GENERATE = "/api/generate";

interface LoadRequest {
  model: string;
  form: Form;
  reason: "load" | "unload";
}

/** Without anything to say these load a model ahead of its first use, and with `keep_alive` 0 they unload it. */
const load = defineOperation<LoadRequest, JsonObject, Record<string, never>>({
  ...common,
  name: "ollama-load",
  endpoint: "models",
  output: "none",
  routes: [CHAT, GENERATE].map((path) => ({ method: "POST" as const, path })),
  claims: (raw) => {
    try {
      const body = jsonObject(raw);
      const said = body[raw.path.startsWith(CHAT) ? "messages" : "prompt"] ?? "";
      return said === "" || (Array.isArray(said) && said.length === 0);
    } catch {
      return false;
    }
  },
  decode: (raw) => {
    const body = jsonObject(raw);
    return {
      model: modelOf(body),
      form: raw.path.startsWith(CHAT) ? chatForm : generateForm,
      reason: body["keep_alive"] === 0 ? "unload" : "load",
    };
  },
  view: (request) => new PlainView(request, request.model),
  streamed: () => false,
  encode: (reply, context) => ({ model: context.model, created_at: context.createdIso, ...reply }),
  fallback: ({ request: { form, reason } }) => ({ ...form("", undefined, []), done: true, done_reason: reason }),
});

const models = defineOperation<OllamaModelsRequest, JsonObject, Record<string, never>>({
  ...common,
  name: "ollama-models",
  endpoint: "models",
  output: "none",
  routes: [
    { method: "GET", path: "/api/tags" },
    { method: "GET", path: "/api/ps" },
    { method: "GET", path: "/api/version" },
    { method: "POST", path: "/api/show" },
  ],
  decode: decodeOllamaModels,
  view: (request) => new PlainView(request, request.model),
  streamed: () => false,
  encode: (body) => body,
  fallback: (call) => encodeOllamaModels(call.request),
});

/**
 * Ollama's own API.
 * @see https://docs.ollama.com/api
 */
export const ollama: Dialect = {
  name: OLLAMA,
  providers: ["ollama"],
  operations: [
    conversation("ollama-chat", CHAT, chatForm, decodeOllamaChat),
    conversation("ollama-generate", GENERATE, generateForm, decodeOllamaGenerate),
    load,
    models,
  ],
};
