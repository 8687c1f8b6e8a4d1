import { PlainView } from "../chat/view.ts";
import { ApiError } from "../dialects/api-error.ts";
import { encodeOpenAIError } from "../dialects/openai-chat/errors.ts";
import { defineOperation } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";

/** Listed where no fixture names a model. */
export const KNOWN_MODELS = [
  "gpt-4",
  "gpt-4o",
  "gpt-4o-mini",
  "gpt-5",
  "gpt-5-mini",
  "claude-opus-4-5",
  "claude-sonnet-4-5",
  "claude-haiku-4-5",
  "gemini-2.5-pro",
  "gemini-2.5-flash",
  "text-embedding-3-small",
  "text-embedding-3-large",
];

interface ModelsRequest {
  /** Undefined for the list. */
  id: string | undefined;
}

/** A fixed day, since a list of models does not change from call to call. */
const CREATED = 1_715_367_049;

const modelObject = (id: string): object => ({ id, object: "model", created: CREATED, owned_by: "stuntdouble" });

/** @see https://platform.openai.com/docs/api-reference/models */
export const openaiModels = defineOperation<ModelsRequest, ModelsRequest, Record<string, never>>({
  name: "openai-models",
  dialect: "openai-models",
  endpoint: "models",
  output: "none",
  routes: [
    { method: "GET", path: "/v1/models" },
    { method: "GET", path: "/v1/models/:id" },
    // As for chat: `/v1beta/openai/models`.
    { method: "GET", path: "/models" },
    { method: "GET", path: "/models/:id" },
  ],
  decode: (raw: RawRequest) => ({ id: raw.params["id"] }),
  view: (request) => new PlainView(request, request.id ?? ""),
  streamed: () => false,
  variant: () => ({}),
  encode: (out) =>
    out.id === undefined ? { object: "list", data: KNOWN_MODELS.map(modelObject) } : modelObject(out.id),
  encodeError: encodeOpenAIError,
  fallback: ({ request }) => {
    if (request.id !== undefined && !KNOWN_MODELS.includes(request.id)) {
      throw new ApiError({
        status: 404,
        message: `The model '${request.id}' does not exist. GET /v1/models lists those that do.`,
        param: "model",
        code: "model_not_found",
      });
    }
    return request;
  },
});
