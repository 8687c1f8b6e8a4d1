import { PlainView } from "../chat/view.ts";
import { encodeAnthropicError } from "../dialects/anthropic/errors.ts";
import { ApiError, badRequest } from "../dialects/api-error.ts";
import { defineOperation } from "../dialects/operation.ts";
import type { JsonObject, RawRequest } from "../dialects/raw-request.ts";

const KNOWN_MODELS = [
  "claude-opus-5",
  "claude-sonnet-5",
  "claude-opus-4-8",
  "claude-sonnet-4-6",
  "claude-haiku-4-5-20251001",
  "claude-sonnet-4-5-20250929",
];

/** One model, or with no `id` a page of the list. */
export interface ModelsRequest {
  id?: string;
  limit: number;
  afterId: string | null;
  beforeId: string | null;
}

/**
 * Models of Anthropic.
 * @see https://docs.claude.com/en/api/models-list
 */
export const anthropicModels = defineOperation<ModelsRequest, JsonObject, Record<string, never>>({
  name: "anthropic-models",
  dialect: "anthropic-models",
  endpoint: "models",
  output: "none",
  routes: [
    { method: "GET", path: "/v1/models" },
    { method: "GET", path: "/v1/models/:id" },
  ],
  claims: hasAnthropicHeaders,
  decode: decodeModelsRequest,
  view: (request) => new PlainView(request, request.id ?? ""),
  streamed: () => false,
  variant: () => ({}),
  encode: (body) => body,
  encodeError: encodeAnthropicError,
  requestIdHeader: "request-id",
  fallback: (call) => encodeModels(call.request),
});

/** OpenAI has the same path; only this API's clients send `anthropic-version` and its like. */
function hasAnthropicHeaders(raw: RawRequest): boolean {
  for (const name in raw.headers) if (name.startsWith("anthropic-")) return true;
  return false;
}

/**
 * Decodes `GET /v1/models` and `GET /v1/models/{id}`.
 * @throws {ApiError} 400 when `limit` is not from 1 to 1000
 * @see https://docs.claude.com/en/api/models-list
 */
export function decodeModelsRequest(raw: RawRequest): ModelsRequest {
  const { id } = raw.params;
  const limit = Number(raw.query.get("limit") ?? 20);
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= 1000)) {
    throw badRequest("limit: Input should be an integer from 1 to 1000");
  }
  const page = { limit, afterId: raw.query.get("after_id"), beforeId: raw.query.get("before_id") };
  return id === undefined ? page : { ...page, id };
}

/**
 * Every Claude model exists here, also one that is newer than the list.
 * @throws {ApiError} 404 for a model of anybody else
 */
export function encodeModels({ id, limit, afterId, beforeId }: ModelsRequest): JsonObject {
  if (id !== undefined) {
    if (!id.startsWith("claude")) throw new ApiError({ status: 404, message: `model: ${id}` });
    return modelInfo(id);
  }
  const before = beforeId === null ? -1 : KNOWN_MODELS.indexOf(beforeId);
  const end = before < 0 ? KNOWN_MODELS.length : before;
  const start = before < 0 ? KNOWN_MODELS.indexOf(afterId ?? "") + 1 : Math.max(0, end - limit);
  const page = KNOWN_MODELS.slice(start, Math.min(end, start + limit));
  return {
    data: page.map(modelInfo),
    has_more: before < 0 ? start + page.length < KNOWN_MODELS.length : start > 0,
    first_id: page[0] ?? null,
    last_id: page.at(-1) ?? null,
  };
}

function modelInfo(id: string): JsonObject {
  return {
    type: "model",
    id,
    display_name: displayName(id),
    // The provider's own value where the date is not known.
    created_at: "1970-01-01T00:00:00Z",
    lifecycle: "active",
    line: null,
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: null,
    max_tokens: null,
    capabilities: null,
  };
}

/** `claude-haiku-4-5-20251001` is Claude Haiku 4.5. */
function displayName(id: string): string {
  return id
    .replace(/-\d{8}$/, "")
    .replace(/-(\d+)-(\d+)$/, "-$1.$2")
    .replace(/(^|-)(\w)/g, (_, dash: string, letter: string) => (dash ? " " : "") + letter.toUpperCase());
}
