import type { ChatRequest } from "../../chat/request.ts";
import { check } from "../anthropic/check.ts";
import { anthropicMessages, anthropicTokenCount } from "../anthropic/index.ts";
import { decodeMessagesBody } from "../anthropic/request.ts";
import type { Dialect, Route } from "../operation.ts";
import { jsonObject, type RawRequest } from "../raw-request.ts";

/**
 * Claude on Vertex AI: the Anthropic dialect with the model in the path and the version in the body. Gemini on
 * Vertex AI is in the Gemini dialect's own routes, and OpenAI's chat in those of OpenAI.
 * @see https://docs.claude.com/en/api/claude-on-vertex-ai
 */
export const vertex: Dialect = {
  name: "vertex",
  providers: ["vertexai"],
  operations: [
    {
      ...anthropicMessages,
      name: "vertex-anthropic-messages",
      routes: [...routesOf(":model(^.+)::rawPredict"), ...routesOf(":model(^.+)::streamRawPredict")],
      decode: decodeRawPredict,
    },
    {
      ...anthropicTokenCount,
      name: "vertex-anthropic-count-tokens",
      routes: routesOf("count-tokens::rawPredict"),
    },
  ],
};

function routesOf(model: string): Route[] {
  return ["/v1", "/v1beta1"].map((version) => ({
    method: "POST",
    path: `${version}/projects/:project/locations/:location/publishers/anthropic/models/${model}`,
  }));
}

/** @throws {ApiError} 400 */
function decodeRawPredict(raw: RawRequest): ChatRequest {
  const body = jsonObject(raw);
  check("anthropic_version", "string", body["anthropic_version"]);
  const request = decodeMessagesBody({ ...body, model: raw.params["model"] });
  if (raw.path.endsWith("streamRawPredict")) request.stream = true;
  return request;
}
