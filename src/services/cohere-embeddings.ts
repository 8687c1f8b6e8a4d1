import { estimateTokens } from "../chat/tokens.ts";
import { PlainView } from "../chat/view.ts";
import { badRequest } from "../dialects/api-error.ts";
import { encodeCohereError } from "../dialects/cohere/errors.ts";
import { check, checkDataUrl, modelOf, wrong } from "../dialects/cohere/request.ts";
import { COHERE } from "../dialects/cohere/response.ts";
import { type Call, defineOperation, type EncodeContext } from "../dialects/operation.ts";
import { isObject, type JsonObject, jsonObject } from "../dialects/raw-request.ts";
import { checkAmount, type EmbeddingOutput, isDimensions, MOST_DIMENSIONS, madeVector, toBase64 } from "./vectors.ts";

export interface CohereEmbedRequest extends JsonObject {
  model: string;
  /** The text of each input; of an image its URL. */
  inputs: string[];
  /** Wanted forms of the vectors, joined by a comma; empty for plain floats without a name. */
  types: string;
  dimensions: number;
}

export interface CohereEmbedVariant extends Record<string, unknown> {
  inputs: number;
  types: string;
  version: 1 | 2;
}

const TYPES = ["float", "int8", "uint8", "binary", "ubinary", "base64"];
const DIMENSIONS: [RegExp, number][] = [
  [/light/, 384],
  [/v4/, 1536],
];
const DEFAULT_DIMENSIONS = 1024;

/**
 * @see https://docs.cohere.com/v2/reference/embed
 * @see https://docs.cohere.com/v1/reference/embed
 */
export const cohereEmbeddings = ([1, 2] as const).map((version) =>
  defineOperation<CohereEmbedRequest, EmbeddingOutput, CohereEmbedVariant>({
    name: `cohere-embeddings-v${version}`,
    dialect: COHERE,
    endpoint: "embedding",
    output: "embedding",
    routes: [{ method: "POST", path: `/v${version}/embed` }],
    decode: (raw) => {
      const body = jsonObject(raw);
      return decodeCohereEmbed(body, modelOf(body), version);
    },
    view: (request) => new PlainView(request, request.model, request.inputs.join(" ")),
    streamed: () => false,
    variant: ({ inputs, types }) => ({ inputs: inputs.length, types, version }),
    encode: encodeCohereEmbed,
    encodeError: encodeCohereError,
    fallback: ({ request }) => cohereVectors(request),
  }),
);

/** @throws {ApiError} 400 */
export function decodeCohereEmbed(body: JsonObject, model: string, version: 1 | 2): CohereEmbedRequest {
  const { embedding_types: types, output_dimension: dimensions } = body;
  check(body, "embedding_types", "list");
  check(body, "output_dimension", "number");
  check(body, "input_type", "string", "", version === 2);
  if (typeof dimensions === "number" && !isDimensions(dimensions)) {
    throw badRequest(`invalid request: output_dimension must be an integer from 1 to ${MOST_DIMENSIONS}`);
  }
  const wanted = Array.isArray(types) ? types : version === 2 ? ["float"] : [];
  const unknown = wanted.find((type) => !TYPES.includes(type));
  if (unknown !== undefined) throw badRequest(`invalid request: embedding_types must be of ${TYPES.join(", ")}`);
  const known = DIMENSIONS.find(([pattern]) => pattern.test(model))?.[1] ?? DEFAULT_DIMENSIONS;
  const request = {
    ...body,
    model,
    inputs: inputsOf(body),
    types: wanted.join(","),
    dimensions: typeof dimensions === "number" ? dimensions : known,
  };
  checkAmount(request.inputs.length, request.dimensions, (message) => badRequest(`invalid request: ${message}`));
  return request;
}

function inputsOf(body: JsonObject): string[] {
  for (const name of ["texts", "images", "inputs"]) {
    const given = body[name];
    if (given === undefined || given === null) continue;
    if (!Array.isArray(given)) throw wrong(name, "a list", given);
    if (given.length === 0) continue;
    return given.map((input, index) => {
      if (name === "inputs") return mixedText(input, `inputs[${index}]`);
      if (typeof input !== "string") throw wrong(`${name}[${index}]`, "a string", input);
      if (name === "images") checkDataUrl(input, `images[${index}]`);
      return input;
    });
  }
  throw badRequest("invalid request: one of texts, images and inputs must be provided");
}

/** An input of texts and images. */
function mixedText(input: unknown, place: string): string {
  if (!isObject(input)) throw wrong(place, "an object", input);
  const { content } = input;
  if (!Array.isArray(content)) throw wrong(`${place}.content`, "a list", content);
  return content.map((part, index) => textOf(part, `${place}.content[${index}]`)).join("");
}

function textOf(part: unknown, place: string): string {
  if (!isObject(part)) throw wrong(place, "an object", part);
  const { text = "", image_url: image } = part;
  if (isObject(image)) checkDataUrl(image["url"], `${place}.image_url.url`);
  if (typeof text !== "string") throw wrong(`${place}.text`, "a string", text);
  return text;
}

export function cohereVectors({ inputs, dimensions }: CohereEmbedRequest): EmbeddingOutput {
  return { vectors: inputs.map((input) => madeVector(input, dimensions)) };
}

export function encodeCohereEmbed(out: EmbeddingOutput, context: EncodeContext<CohereEmbedVariant>): JsonObject {
  const { inputs, types, version } = context.variant;
  const vectors = Array.from({ length: inputs }, (_, index) => out.embedding ?? out.vectors?.[index] ?? []);
  const embeddings =
    types === ""
      ? vectors
      : Object.fromEntries(types.split(",").map((type) => [type, vectors.map((vector) => vectorAs(type, vector))]));
  const tokens = context.echo((call: Call) => {
    const texts = (call.request as CohereEmbedRequest).inputs;
    return estimateTokens(texts.reduce((sum, text) => sum + text.length, 0));
  });
  return {
    id: context.id(""),
    ...(version === 1 && { response_type: types === "" ? "embeddings_floats" : "embeddings_by_type" }),
    embeddings,
    texts: context.echo((call) => {
      const { texts } = call.request as CohereEmbedRequest;
      return Array.isArray(texts) ? texts : [];
    }),
    meta: { api_version: { version: String(version) }, billed_units: { input_tokens: tokens } },
  };
}

/** A vector of numbers from -1 to 1 in fewer bits, as the API makes it. */
function vectorAs(type: string, vector: number[]): unknown {
  switch (type) {
    case "int8":
      return vector.map((value) => Math.round(value * 127));
    case "uint8":
      return vector.map((value) => Math.round(value * 127) + 128);
    case "ubinary":
      return packed(vector);
    case "binary":
      return packed(vector).map((byte) => byte - 128);
    case "base64":
      return toBase64(vector);
    default:
      return vector;
  }
}

/** The sign of each number is a bit, eight to a byte, the first the highest. */
function packed(vector: number[]): number[] {
  return Array.from({ length: Math.ceil(vector.length / 8) }, (_, index) =>
    vector.slice(index * 8, index * 8 + 8).reduce((byte, value, bit) => byte | (value > 0 ? 128 >> bit : 0), 0),
  );
}
