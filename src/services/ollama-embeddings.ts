import { estimateTokens } from "../chat/tokens.ts";
import { PlainView } from "../chat/view.ts";
import { badRequest } from "../dialects/api-error.ts";
import { member, modelOf } from "../dialects/ollama/check.ts";
import { encodeOllamaError } from "../dialects/ollama/errors.ts";
import { OLLAMA } from "../dialects/ollama/response.ts";
import { type Call, defineOperation } from "../dialects/operation.ts";
import { type JsonObject, jsonObject, type RawRequest } from "../dialects/raw-request.ts";
import { checkAmount, type EmbeddingOutput, isDimensions, MOST_DIMENSIONS, madeVector } from "./vectors.ts";

interface OllamaEmbedRequest extends JsonObject {
  model: string;
  inputs: string[];
}

interface OllamaEmbedVariant extends Record<string, unknown> {
  inputs: number;
  /** `/api/embeddings` takes one prompt and gives one vector. */
  single: boolean;
}

const SINGLE = "/api/embeddings";
const DIMENSIONS: [RegExp, number][] = [
  [/mxbai|bge-large|bge-m3|snowflake-arctic-embed/, 1024],
  [/minilm/, 384],
  [/qwen3-embedding/, 4096],
];
const DEFAULT_DIMENSIONS = 768;
const DURATION = 10_000_000;

/** @see https://docs.ollama.com/api/embed */
export const ollamaEmbeddings = defineOperation<OllamaEmbedRequest, EmbeddingOutput, OllamaEmbedVariant>({
  name: "ollama-embeddings",
  dialect: OLLAMA,
  endpoint: "embedding",
  output: "embedding",
  routes: [
    { method: "POST", path: "/api/embed" },
    { method: "POST", path: SINGLE },
  ],
  decode,
  view: (request) => new PlainView(request, request.model, request.inputs.join(" ")),
  streamed: () => false,
  variant: ({ inputs, single }) => ({ inputs: inputs.length, single: single === true }),
  encode: (out, context) => {
    const { inputs, single } = context.variant;
    const vectors = Array.from({ length: inputs }, (_, index) => out.embedding ?? out.vectors?.[index] ?? []);
    if (single) return { embedding: vectors[0] ?? [] };
    return {
      model: context.model,
      embeddings: vectors,
      total_duration: DURATION,
      load_duration: DURATION / 10,
      prompt_eval_count: context.echo((call: Call) => {
        const texts = (call.request as OllamaEmbedRequest).inputs;
        return estimateTokens(texts.reduce((sum, text) => sum + text.length, 0));
      }),
    };
  },
  encodeError: encodeOllamaError,
  fallback: ({ request }) => ({ vectors: request.inputs.map((input) => madeVector(input, dimensionsOf(request))) }),
});

function decode(raw: RawRequest): OllamaEmbedRequest {
  const body = jsonObject(raw);
  const model = modelOf(body);
  const dimensions = member(body, "dimensions", "number");
  if (dimensions !== undefined && !isDimensions(dimensions)) {
    throw badRequest(`dimensions must be an integer from 1 to ${MOST_DIMENSIONS}`);
  }
  if (raw.path.startsWith(SINGLE)) {
    return { ...body, model, inputs: [member(body, "prompt", "string") ?? ""], single: true };
  }
  const { input } = body;
  const inputs = Array.isArray(input) ? input : [input ?? ""];
  if (!inputs.every((text) => typeof text === "string")) throw badRequest("invalid input type");
  const request = { ...body, model, inputs, single: false };
  checkAmount(inputs.length, dimensionsOf(request));
  return request;
}

function dimensionsOf({ model, dimensions }: JsonObject & { model: string }): number {
  if (typeof dimensions === "number") return dimensions;
  return DIMENSIONS.find(([name]) => name.test(model))?.[1] ?? DEFAULT_DIMENSIONS;
}
