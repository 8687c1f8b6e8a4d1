import { PlainView } from "../chat/view.ts";
import { ApiError, badRequest } from "../dialects/api-error.ts";
import { encodeGoogleError } from "../dialects/google/errors.ts";
import { defineOperation, type Route } from "../dialects/operation.ts";
import type { JsonObject, RawRequest } from "../dialects/raw-request.ts";

const KNOWN_MODELS = [
  "gemini-3-pro-preview",
  "gemini-3-flash-preview",
  "gemini-2.5-pro",
  "gemini-2.5-flash",
  "gemini-2.5-flash-lite",
  "gemini-embedding-001",
];

/** Google's models by their names; also one that is newer than the list exists. */
const GOOGLES = /^(gemini|gemma|text-embedding|embedding|imagen|veo|lyria)-/;

type Collection = "models" | "tunedModels" | "publisherModels";

interface ModelsRequest {
  collection: Collection;
  /** Undefined for the list. */
  id: string | undefined;
  pageSize: number;
  start: number;
}

/**
 * Models of Gemini, and of Google as a publisher on Vertex AI.
 * @see https://ai.google.dev/api/models
 */
export const geminiModels = defineOperation<ModelsRequest, JsonObject, Record<string, never>>({
  name: "gemini-models",
  dialect: "gemini-models",
  endpoint: "models",
  output: "none",
  routes: [
    ...["/v1beta", "/v1", "/v1alpha"].flatMap((version) => [
      ...routes(`${version}/models`),
      ...routes(`${version}/tunedModels`),
    ]),
    ...["/v1", "/v1beta1"].flatMap((version) => [
      ...routes(`${version}/publishers/google/models`),
      ...routes(`${version}/projects/:project/locations/:location/publishers/google/models`),
    ]),
  ],
  claims: (raw) => !raw.path.startsWith("/v1/models") || isGoogles(raw),
  decode,
  view: (request) => new PlainView(request, request.id ?? ""),
  streamed: () => false,
  variant: () => ({}),
  encode: (body) => body,
  encodeError: encodeGoogleError,
  fallback: ({ request }) => (request.id === undefined ? list(request) : one(request.collection, request.id)),
});

function routes(path: string): Route[] {
  return [
    { method: "GET", path },
    { method: "GET", path: `${path}/:id` },
  ];
}

/** OpenAI and Anthropic have the path too; they do not send keys like this. */
function isGoogles(raw: RawRequest): boolean {
  for (const name in raw.headers) if (name.startsWith("x-goog-")) return true;
  return raw.query.has("key");
}

function decode(raw: RawRequest): ModelsRequest {
  const collection = raw.path.includes("/publishers/")
    ? "publisherModels"
    : raw.path.includes("/tunedModels")
      ? "tunedModels"
      : "models";
  const pageSize = Number(raw.query.get("pageSize") ?? 50);
  const start = Number(raw.query.get("pageToken") || 0);
  if (!(Number.isInteger(pageSize) && pageSize >= 0)) throw badRequest("Invalid page size.", "page_size");
  if (!(Number.isInteger(start) && start >= 0)) throw badRequest("Invalid page token.", "page_token");
  return { collection, id: raw.params["id"], pageSize: Math.min(pageSize || 50, 1000), start };
}

function list({ collection, pageSize, start }: ModelsRequest): JsonObject {
  const all = collection === "tunedModels" ? [] : KNOWN_MODELS;
  const end = start + pageSize;
  return {
    [collection]: all.slice(start, end).map((id) => info(collection, id)),
    ...(end < all.length && { nextPageToken: String(end) }),
  };
}

function one(collection: Collection, id: string): JsonObject {
  if (collection === "tunedModels" || GOOGLES.test(id)) return info(collection, id);
  throw new ApiError({
    status: 404,
    message: `models/${id} is not found. Call ListModels to see the list of available models.`,
  });
}

function info(collection: Collection, id: string): JsonObject {
  const displayName = id.replace(
    /(^|-)(\w)/g,
    (_, dash: string, letter: string) => (dash && " ") + letter.toUpperCase(),
  );
  if (collection === "publisherModels") {
    return { name: `publishers/google/models/${id}`, versionId: "default", launchStage: "GA" };
  }
  if (collection === "tunedModels") return { name: `tunedModels/${id}`, displayName, state: "ACTIVE" };
  const embeds = id.includes("embedding");
  return {
    name: `models/${id}`,
    version: "001",
    displayName,
    inputTokenLimit: embeds ? 2048 : 1_048_576,
    outputTokenLimit: embeds ? 1 : 65_536,
    supportedGenerationMethods: embeds
      ? ["embedContent", "countTokens"]
      : ["generateContent", "streamGenerateContent", "countTokens"],
    ...(!embeds && { temperature: 1, topP: 0.95, topK: 64, maxTemperature: 2 }),
  };
}
