import { estimateTokens } from "../chat/tokens.ts";
import { PlainView } from "../chat/view.ts";
import { badRequest } from "../dialects/api-error.ts";
import { encodeGoogleError } from "../dialects/google/errors.ts";
import {
  invalid,
  listMember,
  numberMember,
  objectMember,
  type Place,
  stringMember,
} from "../dialects/google/members.ts";
import { modelOf, routesOf } from "../dialects/google/routes.ts";
import { type Call, defineOperation, type EncodeContext } from "../dialects/operation.ts";
import { type JsonObject, jsonObject, type RawRequest } from "../dialects/raw-request.ts";
import { checkAmount, type EmbeddingOutput, isDimensions, MOST_DIMENSIONS, madeVector } from "./vectors.ts";

/** How inputs and vectors stand on the wire: one, many, or in Vertex AI's form for predictions. */
type Form = "single" | "batch" | "predict";

interface EmbedRequest extends JsonObject {
  model: string;
  /** The text of each input, and how long its vector has to be. */
  inputs: string[];
  dimensions: number[];
  form: Form;
}

interface EmbedVariant extends Record<string, unknown> {
  form: Form;
  inputs: number;
}

/**
 * Embeddings of Gemini and Vertex AI.
 * @see https://ai.google.dev/api/embeddings
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api
 */
export const geminiEmbeddings = defineOperation<EmbedRequest, EmbeddingOutput, EmbedVariant>({
  name: "gemini-embeddings",
  dialect: "gemini-embeddings",
  endpoint: "embedding",
  output: "embedding",
  routes: [...routesOf("embedContent"), ...routesOf("batchEmbedContents"), ...routesOf("predict")],
  decode,
  view: (request) => new PlainView(request, request.model, request.inputs.join(" ")),
  streamed: () => false,
  variant: ({ form, inputs }) => ({ form, inputs: inputs.length }),
  encode,
  encodeError: encodeGoogleError,
  fallback: ({ request: { inputs, dimensions } }) => ({
    vectors: inputs.map((input, index) => madeVector(input, dimensions[index]!)),
  }),
});

function formOf(raw: RawRequest): Form {
  if (raw.path.endsWith("predict")) return "predict";
  return raw.path.endsWith("batchEmbedContents") ? "batch" : "single";
}

function decode(raw: RawRequest): EmbedRequest {
  const body = jsonObject(raw);
  const model = modelOf(raw);
  const form = formOf(raw);
  const { inputs, dimensions } = inputsOf(body, form);
  const lengths = dimensions.map((wanted) => wanted ?? defaultDimensions(model));
  checkAmount(
    inputs.length,
    lengths.reduce((longest, length) => Math.max(longest, length), 0),
  );
  return { ...body, model, form, inputs, dimensions: lengths };
}

function inputsOf(body: JsonObject, form: Form): { inputs: string[]; dimensions: (number | undefined)[] } {
  switch (form) {
    case "single": {
      const config = objectMember(body, "embedContentConfig", () => "embed_content_config") ?? body;
      return { inputs: [contentText(body, "content")], dimensions: [dimensionsIn(config, "")] };
    }
    case "batch": {
      const requests = listMember(body, "requests", () => "requests");
      if (requests.length === 0)
        throw badRequest("* BatchEmbedContentsRequest.requests: requests is not specified", "requests");
      return {
        inputs: requests.map((request, index) => contentText(request, `requests[${index}].content`)),
        dimensions: requests.map((request, index) => dimensionsIn(request, `requests[${index}].`)),
      };
    }
    case "predict": {
      const instances = listMember(body, "instances", () => "instances");
      if (instances.length === 0) throw badRequest("Empty instances.", "instances");
      const parameters = objectMember(body, "parameters", () => "parameters") ?? {};
      const wanted = dimensionsIn(parameters, "parameters.");
      return {
        inputs: instances.map((instance, index) => predictedText(instance, `instances[${index}].content`)),
        dimensions: instances.map(() => wanted),
      };
    }
  }
}

/** Images and all else that is predicted have the path too; here it is text. */
function predictedText(instance: JsonObject, path: string): string {
  const text = stringMember(instance, "content", () => path);
  if (text === undefined) throw badRequest(`${path}: the text to be embedded is missing`, path);
  return text;
}

function contentText(request: JsonObject, path: string): string {
  const content = objectMember(request, "content", () => path);
  if (content === undefined) throw badRequest(`* EmbedContentRequest.${path}: content is not specified`, path);
  const place: Place = () => `${path}.parts`;
  return listMember(content, "parts", place)
    .map((part, index) => stringMember(part, "text", () => `${place()}[${index}].text`) ?? "")
    .join("");
}

function dimensionsIn(config: JsonObject, path: string): number | undefined {
  const name = `${path}output_dimensionality`;
  const wanted = numberMember(config, "outputDimensionality", () => name);
  if (wanted !== undefined && !isDimensions(wanted)) {
    throw invalid(name, `an integer from 1 to ${MOST_DIMENSIONS}`, wanted);
  }
  return wanted;
}

function defaultDimensions(model: string): number {
  return model.startsWith("gemini") ? 3072 : 768;
}

function encode(out: EmbeddingOutput, context: EncodeContext<EmbedVariant>): JsonObject {
  const { form, inputs } = context.variant;
  const vectors = Array.from({ length: inputs }, (_, index) => out.embedding ?? out.vectors?.[index] ?? []);
  switch (form) {
    case "single":
      return { embedding: { values: vectors[0] } };
    case "batch":
      return { embeddings: vectors.map((values) => ({ values })) };
    case "predict":
      return {
        predictions: vectors.map((values, index) => ({
          embeddings: {
            statistics: { token_count: context.echo((call) => tokensOf(call, index)), truncated: false },
            values,
          },
        })),
        metadata: { billableCharacterCount: context.echo(billedCharacters) },
      };
  }
}

function tokensOf(call: Call, index: number): number {
  return estimateTokens((call.request as EmbedRequest).inputs[index]!.length);
}

/** White space costs nothing. */
function billedCharacters(call: Call): number {
  return (call.request as EmbedRequest).inputs.reduce((sum, text) => sum + text.replace(/\s/g, "").length, 0);
}
