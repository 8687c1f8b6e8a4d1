import type { Route } from "../operation.ts";
import type { RawRequest } from "../raw-request.ts";

/** Where models are, on the Gemini API and on Vertex AI (there with a project, or without one in express mode). */
const COLLECTIONS = [
  ...["/v1beta", "/v1", "/v1alpha"].flatMap((version) => [`${version}/models`, `${version}/tunedModels`]),
  ...["/v1", "/v1beta1"].flatMap((version) => [
    `${version}/projects/:project/locations/:location/publishers/google/models`,
    `${version}/projects/:project/locations/:location/endpoints`,
    `${version}/publishers/google/models`,
  ]),
];

/** The routes of a method that models have: `…/models/{model}:generateContent`. */
export function routesOf(action: string): Route[] {
  return COLLECTIONS.map((collection) => ({ method: "POST", path: `${collection}/:model(^.+)::${action}` }));
}

/** The model that the path names, without its collection. */
export function modelOf(raw: RawRequest): string {
  return (raw.params["model"] ?? "").replace(/^models\//, "");
}
