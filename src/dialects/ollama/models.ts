import { type JsonObject, jsonObject, type RawRequest } from "../raw-request.ts";
import { modelOf } from "./check.ts";

/** Listed as pulled; any other exists as well when it is asked for. */
const KNOWN_MODELS = ["llama3.2:latest", "qwen3:latest", "gpt-oss:20b", "gemma3:latest", "nomic-embed-text:latest"];

export interface OllamaModelsRequest {
  what: "tags" | "ps" | "version" | "show";
  model: string;
}

/**
 * Decodes `GET /api/tags`, `/api/ps`, `/api/version` and `POST /api/show`.
 * @throws {ApiError} 400 when no model is named that is to be shown
 */
export function decodeOllamaModels(raw: RawRequest): OllamaModelsRequest {
  const what = raw.path.slice("/api/".length).replace(/\/$/, "") as OllamaModelsRequest["what"];
  return { what, model: what === "show" ? modelOf(jsonObject(raw)) : "" };
}

export function encodeOllamaModels({ what, model }: OllamaModelsRequest): JsonObject {
  switch (what) {
    case "version":
      return { version: "0.20.0" };
    case "ps":
      // Nothing stays in memory here.
      return { models: [] };
    case "tags":
      return { models: KNOWN_MODELS.map(listed) };
    case "show":
      return {
        license: "",
        modelfile: `FROM ${model}`,
        parameters: "",
        template: "{{ .Prompt }}",
        details: detailsOf(model),
        model_info: { "general.architecture": familyOf(model), "general.parameter_count": PARAMETERS },
        capabilities: model.includes("embed") ? ["embedding"] : ["completion", "tools", "thinking", "vision"],
        modified_at: MODIFIED_AT,
      };
  }
}

/** A fixed day, since a list of models does not change from call to call. */
const MODIFIED_AT = "2026-01-01T00:00:00Z";
const PARAMETERS = 8_000_000_000;

function listed(model: string): JsonObject {
  return {
    name: model,
    model,
    modified_at: MODIFIED_AT,
    size: PARAMETERS / 2,
    digest: Buffer.from(model).toString("hex").padEnd(64, "0").slice(0, 64),
    details: detailsOf(model),
  };
}

function detailsOf(model: string): JsonObject {
  const family = familyOf(model);
  return {
    parent_model: "",
    format: "gguf",
    family,
    families: [family],
    parameter_size: "8.0B",
    quantization_level: "Q4_K_M",
  };
}

/** `llama3.2:latest` is of the family llama. */
function familyOf(model: string): string {
  return /^[a-z]+/i.exec(model.split("/").at(-1) ?? "")?.[0] ?? "llama";
}
