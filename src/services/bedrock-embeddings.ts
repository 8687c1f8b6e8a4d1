import { estimateTokens } from "../chat/tokens.ts";
import { PlainView } from "../chat/view.ts";
import { badRequest } from "../dialects/api-error.ts";
import { may, need } from "../dialects/bedrock/check.ts";
import { askedTo, bedrockCommon } from "../dialects/bedrock/common.ts";
import { modelOf } from "../dialects/bedrock/path.ts";
import { INVOKE, invokeFamily } from "../dialects/bedrock-invoke/request.ts";
import { type Call, defineOperation } from "../dialects/operation.ts";
import { type JsonObject, jsonObject } from "../dialects/raw-request.ts";
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
  claims: (raw) => invokeFamily(raw) === "titan-embed",
  decode: (raw) => {
    const body = jsonObject(raw);
    const model = modelOf(raw);
    const dimensions = may("number", body["dimensions"], "dimensions") ?? (model.includes("v1") ? 1536 : 1024);
    if (!isDimensions(dimensions)) {
      throw badRequest(
        `Malformed input request: #/dimensions: ${dimensions} is not a valid enum value, please reformat your input and try again.`,
      );
    }
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
