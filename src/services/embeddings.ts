import { estimateTokens } from "../chat/tokens.ts";
import { PlainView } from "../chat/view.ts";
import { ApiError, badRequest } from "../dialects/api-error.ts";
import { checkString, checkType, invalidType, missing } from "../dialects/openai-chat/check.ts";
import { encodeOpenAIError } from "../dialects/openai-chat/errors.ts";
import { type Call, defineOperation, type EncodeContext } from "../dialects/operation.ts";
import { type JsonObject, jsonObject, type RawRequest } from "../dialects/raw-request.ts";
import { checkAmount, type EmbeddingOutput, isDimensions, MOST_DIMENSIONS, madeVector, toBase64 } from "./vectors.ts";

export interface EmbeddingRequest extends JsonObject {
  model: string;
  /** The text of each input; tokens given as numbers are their digits. */
  inputs: string[];
}

interface EmbeddingVariant extends Record<string, unknown> {
  inputs: number;
  base64: boolean;
}

/** @see https://platform.openai.com/docs/api-reference/embeddings/create */
export const openaiEmbeddings = defineOperation<EmbeddingRequest, EmbeddingOutput, EmbeddingVariant>({
  name: "openai-embeddings",
  dialect: "openai-embeddings",
  endpoint: "embedding",
  output: "embedding",
  routes: [
    { method: "POST", path: "/v1/embeddings" },
    // As for chat: `/v1beta/openai/embeddings`.
    { method: "POST", path: "/embeddings" },
  ],
  decode,
  view: (request) => new PlainView(request, request.model, request.inputs.join(" ")),
  streamed: () => false,
  variant: (request) => ({ inputs: request.inputs.length, base64: request["encoding_format"] === "base64" }),
  encode,
  encodeError: encodeOpenAIError,
  fallback: (call) => ({
    vectors: call.request.inputs.map((input) => madeVector(input, dimensionsOf(call.request))),
  }),
});

function decode(raw: RawRequest): EmbeddingRequest {
  const body = jsonObject(raw);
  checkString(body, "model", true);
  checkType(body, "dimensions", "number");
  const { dimensions, encoding_format: format } = body;
  if (typeof dimensions === "number" && !isDimensions(dimensions)) {
    throw invalidType("dimensions", `an integer from 1 to ${MOST_DIMENSIONS}`, dimensions);
  }
  if (format !== undefined && format !== null && format !== "float" && format !== "base64") {
    throw new ApiError({
      status: 400,
      message: "Invalid value for 'encoding_format': supported values are float and base64.",
      param: "encoding_format",
      code: "invalid_value",
    });
  }
  const request = { ...body, model: body["model"] as string, inputs: inputsOf(body["input"]) };
  checkAmount(request.inputs.length, dimensionsOf(request), (message) => badRequest(message, "input"));
  return request;
}

function inputsOf(input: unknown): string[] {
  if (typeof input === "string") return [input];
  if (input === undefined) throw missing("input");
  if (!Array.isArray(input)) throw invalidType("input", "a string or an array", input);
  if (input.length === 0) throw invalidType("input", "at least one input", input);
  if (isTokens(input)) return [input.join(" ")];
  return input.map((item, index) => {
    if (typeof item === "string") return item;
    if (isTokens(item)) return item.join(" ");
    throw invalidType(`input[${index}]`, "a string or an array of tokens", item);
  });
}

function isTokens(input: unknown): input is number[] {
  return Array.isArray(input) && input.every((token) => typeof token === "number");
}

function dimensionsOf(request: EmbeddingRequest): number {
  const wanted = request["dimensions"];
  if (typeof wanted === "number") return wanted;
  return request.model === "text-embedding-3-large" ? 3072 : 1536;
}

function encode(out: EmbeddingOutput, context: EncodeContext<EmbeddingVariant>): JsonObject {
  const { inputs, base64 } = context.variant;
  const tokens = context.echo((call: Call) => {
    const texts = (call.request as EmbeddingRequest).inputs;
    return estimateTokens(texts.reduce((sum, text) => sum + text.length, 0));
  });
  const form = (vector: number[]): unknown => (base64 ? toBase64(vector) : vector);
  const shared = out.embedding && form(out.embedding);
  return {
    object: "list",
    data: Array.from({ length: inputs }, (_, index) => ({
      object: "embedding",
      index,
      embedding: shared ?? form(out.vectors?.[index] ?? []),
    })),
    model: context.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}
