import { hashOf, randomOf } from "../chat/random.ts";
import { estimateTokens } from "../chat/tokens.ts";
import { PlainView } from "../chat/view.ts";
import { ApiError } from "../dialects/api-error.ts";
import { encodeOpenAIError } from "../dialects/openai-chat/errors.ts";
import { checkString, checkType, invalidType, missing } from "../dialects/openai-chat/request.ts";
import { type Call, defineOperation, type EncodeContext } from "../dialects/operation.ts";
import { type JsonObject, jsonObject, type RawRequest } from "../dialects/raw-request.ts";

export interface EmbeddingRequest extends JsonObject {
  model: string;
  /** The text of each input; tokens given as numbers are their digits. */
  inputs: string[];
}

export interface EmbeddingOutput {
  /** One vector, given for every input. */
  embedding?: number[];
  /** One vector an input. */
  vectors?: number[][];
}

interface EmbeddingVariant extends Record<string, unknown> {
  inputs: number;
  base64: boolean;
}

const DEFAULT_DIMENSIONS = 1536;
const DIMENSIONS: Record<string, number> = { "text-embedding-3-large": 3072 };
const MOST_DIMENSIONS = 65_536;

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
  if (
    typeof dimensions === "number" &&
    !(Number.isInteger(dimensions) && dimensions > 0 && dimensions <= MOST_DIMENSIONS)
  ) {
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
  return { ...body, model: body["model"] as string, inputs: inputsOf(body["input"]) };
}

function inputsOf(input: unknown): string[] {
  if (typeof input === "string") return [input];
  if (input === undefined) throw missing("input");
  if (!Array.isArray(input)) throw invalidType("input", "a string or an array", input);
  if (input.length === 0) throw invalidType("input", "at least one input", input);
  if (input.every((item) => typeof item === "number")) return [input.join(" ")];
  return input.map((item, index) => {
    if (typeof item === "string") return item;
    if (Array.isArray(item)) return item.join(" ");
    throw invalidType(`input[${index}]`, "a string or an array of tokens", item);
  });
}

function dimensionsOf(request: EmbeddingRequest): number {
  const wanted = request["dimensions"];
  return typeof wanted === "number" ? wanted : (DIMENSIONS[request.model] ?? DEFAULT_DIMENSIONS);
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

/** Little-endian 32-bit floats, as the API sends them. */
export function toBase64(vector: number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => {
    bytes.writeFloatLE(value, index * 4);
  });
  return bytes.toString("base64");
}

/**
 * A vector of unit length that depends on nothing but the text: the same input is always the same point.
 * @param dimensions at least 1
 */
export function madeVector(text: string, dimensions: number): number[] {
  const random = randomOf(hashOf(text));
  const vector = Array.from({ length: dimensions }, () => random() * 2 - 1);
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
  return vector.map((value) => value / length);
}
