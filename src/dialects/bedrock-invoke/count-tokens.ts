import type { ChatRequest } from "../../chat/request.ts";
import { badRequest } from "../api-error.ts";
import { need, needBase64 } from "../bedrock/check.ts";
import { modelOf } from "../bedrock/path.ts";
import { decodeConverse } from "../bedrock-converse/request.ts";
import { isObject, jsonObject, type RawRequest } from "../raw-request.ts";
import { decodeInvoke } from "./request.ts";

/**
 * Decodes `POST /model/{id}/count-tokens`.
 * @throws {ApiError} 400
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html
 */
export function decodeCountTokens(raw: RawRequest): ChatRequest {
  const model = modelOf(raw);
  const { converse, invokeModel } = need("object", jsonObject(raw)["input"], "input");
  if (converse !== undefined) return decodeConverse(need("object", converse, "input.converse"), model, false);
  const { body } = need("object", invokeModel, "input.invokeModel");
  const text = Buffer.from(needBase64(body, "input.invokeModel.body"), "base64").toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badRequest(`input.invokeModel.body: Malformed input request: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw badRequest("input.invokeModel.body: Malformed input request: expected a JSON object.");
  // Counting asks for no reply, so that its length may be left out.
  return decodeInvoke({ max_tokens: 1, ...value }, model, false);
}
