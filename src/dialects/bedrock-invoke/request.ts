import type { ChatRequest } from "../../chat/request.ts";
import { decodeMessagesBody } from "../anthropic/request.ts";
import { badRequest } from "../api-error.ts";
import { may, need } from "../bedrock/check.ts";
import { actionOf, modelOf } from "../bedrock/path.ts";
import { decodeConverse } from "../bedrock-converse/request.ts";
import { decodeChatBody } from "../openai-chat/request.ts";
import { type JsonObject, jsonObject, type RawRequest } from "../raw-request.ts";
import { type Family, familyOf } from "./family.ts";
import { promptMessages } from "./prompt.ts";

export const INVOKE = "invoke";
export const STREAMED = "invoke-with-response-stream";

/** Whose form the body of an InvokeModel request has; undefined for any other request. */
export function invokeFamily(raw: RawRequest): Family | undefined {
  const action = actionOf(raw);
  if (action !== INVOKE && action !== STREAMED) return undefined;
  return familyOf(modelOf(raw), () => {
    try {
      return jsonObject(raw);
    } catch {
      // Decoding says what is wrong with it.
      return undefined;
    }
  });
}

/**
 * Decodes `POST /model/{id}/invoke` and `/invoke-with-response-stream`.
 * @throws {ApiError} 400
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html
 */
export function decodeInvokeRequest(raw: RawRequest): ChatRequest {
  return decodeInvoke(jsonObject(raw), modelOf(raw), actionOf(raw) === STREAMED);
}

/**
 * Decodes a body in the form of the model's maker.
 * @throws {ApiError} 400
 */
export function decodeInvoke(body: JsonObject, model: string, stream: boolean): ChatRequest {
  switch (familyOf(model, () => body)) {
    case "anthropic":
      if (typeof body["anthropic_version"] !== "string") throw badRequest("anthropic_version: Field required");
      return decodeMessagesBody({ ...body, model, stream });
    case "nova":
      return decodeConverse(body, model, stream);
    case "openai":
      return decodeChatBody({ ...body, model, stream });
    case "llama":
    case "mistral": {
      const { prompt, ...others } = body;
      const messages = promptMessages(need("string", prompt, "prompt"));
      const most = may("number", body["max_gen_len"] ?? body["max_tokens"], "max_gen_len");
      const temperature = may("number", body["temperature"], "temperature");
      return { ...others, model, messages, stream, ...options(most, temperature) };
    }
    case "titan": {
      const { inputText, textGenerationConfig, ...others } = body;
      const content = need("string", inputText, "inputText");
      const config = may("object", textGenerationConfig, "textGenerationConfig") ?? {};
      const most = may("number", config["maxTokenCount"], "textGenerationConfig.maxTokenCount");
      const temperature = may("number", config["temperature"], "textGenerationConfig.temperature");
      return { ...others, model, messages: [{ role: "user", content }], stream, ...options(most, temperature) };
    }
    case "titan-embed":
    case "cohere-embed":
      throw badRequest("The provided model makes embeddings and takes no conversation.");
  }
}

function options(most: number | undefined, temperature: number | undefined): Partial<ChatRequest> {
  return { ...(most !== undefined && { max_tokens: most }), ...(temperature !== undefined && { temperature }) };
}
