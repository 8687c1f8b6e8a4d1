import { notStrictBase64At } from "../../wire/base64.ts";
import { ApiError, badRequest } from "../api-error.ts";
import { isObject, type JsonObject, kindOf } from "../raw-request.ts";

const KINDS = {
  string: { holds: (value: unknown) => typeof value === "string", word: "string" },
  number: { holds: (value: unknown) => typeof value === "number", word: "float32" },
  boolean: { holds: (value: unknown) => typeof value === "boolean", word: "bool" },
  list: { holds: Array.isArray, word: "[]json.RawMessage" },
  object: { holds: isObject, word: "map[string]interface {}" },
};

interface Kinds {
  string: string;
  number: number;
  boolean: boolean;
  list: unknown[];
  object: JsonObject;
}

/**
 * A member, or undefined where it is absent, null or empty, which are one to a Go program.
 * @throws {ApiError} 400 in the words of Go's JSON decoder
 */
export function member<Kind extends keyof Kinds>(
  body: JsonObject,
  name: string,
  kind: Kind,
  place = "",
): Kinds[Kind] | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (KINDS[kind].holds(value)) return value as Kinds[Kind];
  throw badRequest(
    `json: cannot unmarshal ${kindOf(value).replace(/^an? /, "")} into Go struct field ${place}${name} of type ${KINDS[kind].word}`,
  );
}

/** @throws {ApiError} 400 when no model is named */
export function modelOf(body: JsonObject): string {
  const model = member(body, "model", "string") ?? member(body, "name", "string") ?? "";
  if (model === "") throw new ApiError({ status: 400, message: "model is required" });
  return model;
}

/** @throws {ApiError} 400 when one of the images is no base64 */
export function imagesOf(body: JsonObject, place = ""): string[] {
  return (member(body, "images", "list", place) ?? []).map((image) => {
    if (typeof image !== "string")
      throw badRequest(
        `json: cannot unmarshal ${kindOf(image)} into Go struct field ${place}images of type api.ImageData`,
      );
    const wrong = notStrictBase64At(image);
    if (wrong >= 0) throw badRequest(`illegal base64 data at input byte ${wrong}`);
    return image;
  });
}
