import type { ChatRequest } from "../../chat/request.ts";
import { invalidType, missing } from "../openai-chat/check.ts";
import { isObject, jsonObject, type RawRequest } from "../raw-request.ts";

/**
 * The request with its `model`, which may be told as the first of `models` only.
 * @throws {ApiError} 400 when `models` is no list of texts, or there is no model at all
 * @see https://openrouter.ai/docs/api/reference/parameters
 */
export function withModel(raw: RawRequest): RawRequest {
  const body = jsonObject(raw);
  const { models, model, provider } = body;
  if (models !== undefined && models !== null) {
    if (!Array.isArray(models)) throw invalidType("models", "an array of strings", models);
    models.forEach((candidate, index) => {
      if (typeof candidate !== "string") throw invalidType(`models[${index}]`, "a string", candidate);
    });
  }
  if (provider !== undefined && provider !== null && !isObject(provider)) {
    throw invalidType("provider", "an object", provider);
  }
  if (model !== undefined && model !== null) return raw;
  const first = Array.isArray(models) ? models[0] : undefined;
  if (first === undefined) throw missing("model");
  return raw.withJson({ ...body, model: first });
}

/**
 * The request for each model that it names, in the order in which they are tried.
 * @see https://openrouter.ai/docs/guides/routing/model-fallbacks
 */
export function candidates<Request extends ChatRequest>(request: Request): Request[] {
  const { model, models, provider } = request;
  const stays = isObject(provider) && provider["allow_fallbacks"] === false;
  if (stays || !Array.isArray(models)) return [request];
  const names = new Set<string>([model, ...models]);
  return [...names].map((name) => (name === model ? request : { ...request, model: name }));
}
