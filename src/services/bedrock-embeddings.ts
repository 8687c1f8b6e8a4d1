import { estimateTokens } from "../chat/tokens.ts";
import { PlainView } from "../chat/view.ts";
import { badRequest } from "../dialects/api-error.ts";
import { may, need, needBase64 } from "../dialects/bedrock/check.ts";
import { askedTo, bedrockCommon } from "../dialects/bedrock/common.ts";
import { modelOf } from "../dialects/bedrock/path.ts";
import { INVOKE, invokeFamily } from "../dialects/bedrock-invoke/request.ts";
import { type Call, defineOperation } from "../dialects/operation.ts";
import { type JsonObject, jsonObject, type RawRequest } from "../dialects/raw-request.ts";
import {
  type CohereEmbedRequest,
  type CohereEmbedVariant,
  cohereVectors,
  decodeCohereEmbed,
  encodeCohereEmbed,
} from "./cohere-embeddings.ts";
import { type EmbeddingOutput, isDimensions, madeVector } from "./vectors.ts";

interface TitanRequest extends JsonObject {
  model: string;
  input: string;
  dimensions: number;
  /** Wanted forms of the vector, joined by a comma; empty for the plain one. */
  types: string;
}

interface TitanVariant extends Record<string, unknown> {
  types: string;
}

/** @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html */
export const titanEmbeddings = defineOperation<TitanRequest, EmbeddingOutput, TitanVariant>({
  ...bedrockCommon,
  ...askedTo(INVOKE),
  name: "bedrock-titan-embeddings",
  dialect: "bedrock-embeddings",
  endpoint: "embedding",
  output: "embedding",
  claims: (raw) => invokeFamily(raw) === "titan-embed" && !takesImages(raw),
  decode: (raw) => {
    const body = jsonObject(raw);
    const model = modelOf(raw);
    const dimensions = dimensionsIn(body, "dimensions") ?? (model.includes("v1") ? 1536 : 1024);
    const types = (may("list", body["embeddingTypes"], "embeddingTypes") ?? []).map((type, index) =>
      need("string", type, `embeddingTypes.${index + 1}.member`),
    );
    return {
      ...body,
      model,
      input: need("string", body["inputText"], "inputText"),
      dimensions,
      types: types.join(","),
    };
  },
  view: (request) => new PlainView(request, request.model, request.input),
  streamed: () => false,
  variant: ({ types }) => ({ types }),
  encode: (out, context) => {
    const vector = out.embedding ?? out.vectors?.[0] ?? [];
    const { types } = context.variant;
    const forms: JsonObject = {};
    if (types === "" || types.includes("float")) forms["float"] = vector;
    if (types.includes("binary")) forms["binary"] = vector.map((value) => (value > 0 ? 1 : 0));
    return {
      ...(forms["float"] !== undefined && { embedding: vector }),
      embeddingsByType: forms,
      inputTextTokenCount: context.echo((call: Call) => estimateTokens((call.request as TitanRequest).input.length)),
    };
  },
  fallback: ({ request: { input, dimensions } }) => ({ embedding: madeVector(input, dimensions) }),
});

interface TitanImageRequest extends JsonObject {
  model: string;
  text: string;
  /** Text, image, or both: what is given of them. */
  inputs: string[];
  dimensions: number;
}

/** @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-mm.html */
export const titanImageEmbeddings = defineOperation<TitanImageRequest, EmbeddingOutput, Record<string, never>>({
  ...bedrockCommon,
  ...askedTo(INVOKE),
  name: "bedrock-titan-image-embeddings",
  dialect: "bedrock-embeddings",
  endpoint: "embedding",
  output: "embedding",
  claims: (raw) => invokeFamily(raw) === "titan-embed" && takesImages(raw),
  decode: (raw) => {
    const { inputText, inputImage, embeddingConfig, ...rest } = jsonObject(raw);
    const text = may("string", inputText, "inputText");
    const image = inputImage === undefined || inputImage === null ? undefined : needBase64(inputImage, "inputImage");
    const inputs = [text, image].filter((input) => input !== undefined);
    if (inputs.length === 0) {
      throw badRequest("Malformed input request: give inputText, inputImage or both, and try again.");
    }
    const config = may("object", embeddingConfig, "embeddingConfig") ?? {};
    const dimensions = dimensionsIn(config, "outputEmbeddingLength", "embeddingConfig/") ?? 1024;
    return { ...rest, model: modelOf(raw), text: text ?? "", inputs, dimensions };
  },
  view: (request) => new PlainView(request, request.model, request.text),
  streamed: () => false,
  variant: () => ({}),
  encode: (out, context) => ({
    embedding: out.embedding ?? out.vectors?.[0] ?? [],
    inputTextTokenCount: context.echo(({ request }: Call) => {
      const { text } = request as TitanImageRequest;
      return text === "" ? 0 : estimateTokens(text.length);
    }),
    // Of what went wrong; clients take any other value for an error.
    message: null,
  }),
  fallback: ({ request: { inputs, dimensions } }) => {
    const vectors = inputs.map((input) => madeVector(input, dimensions));
    const mean = vectors[0]!.map((_, at) => vectors.reduce((sum, vector) => sum + vector[at]!, 0) / vectors.length);
    return { embedding: mean };
  },
});

function takesImages(raw: RawRequest): boolean {
  return /titan-embed-image/i.test(modelOf(raw));
}

/**
 * @param before where the member stands
 * @throws {ApiError} 400
 */
function dimensionsIn(object: JsonObject, name: string, before = ""): number | undefined {
  const dimensions = may("number", object[name], before.replace("/", ".") + name);
  if (dimensions === undefined || isDimensions(dimensions)) return dimensions;
  throw badRequest(
    `Malformed input request: #/${before}${name}: ${dimensions} is not a valid enum value, please reformat your input and try again.`,
  );
}

/** @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html */
export const cohereOnBedrock = defineOperation<CohereEmbedRequest, EmbeddingOutput, CohereEmbedVariant>({
  ...bedrockCommon,
  ...askedTo(INVOKE),
  name: "bedrock-cohere-embeddings",
  dialect: "bedrock-embeddings",
  endpoint: "embedding",
  output: "embedding",
  claims: (raw) => invokeFamily(raw) === "cohere-embed",
  decode: (raw) => decodeCohereEmbed(jsonObject(raw), modelOf(raw), 1),
  view: (request) => new PlainView(request, request.model, request.inputs.join(" ")),
  streamed: () => false,
  variant: ({ inputs, types }) => ({ inputs: inputs.length, types, version: 1 }),
  encode: (out, context) => {
    const { meta: _, ...rest } = encodeCohereEmbed(out, context);
    return rest;
  },
  fallback: ({ request }) => cohereVectors(request),
});
