import { notStrictBase64At } from "../../wire/base64.ts";
import { ApiError, badRequest } from "../api-error.ts";
import { isOf, type Kinds } from "../kinds.ts";
import { type JsonObject, kindOf } from "../raw-request.ts";

/** Go's words for what a body is checked for. */
const TYPES = {
  string: "string",
  number: "float32",
  boolean: "bool",
  list: "[]json.RawMessage",
  object: "map[string]interface {}",
};

/**
 * A member, or undefined where it is absent, null or empty, which are one to a Go program.
 * @throws {ApiError} 400 in the words of Go's JSON decoder
 */
export function member<K extends keyof typeof TYPES>(
  body: JsonObject,
  name: string,
  kind: K,
  place = "",
): Kinds[K] | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (isOf(kind, value)) return value;
  throw badRequest(
    `json: cannot unmarshal ${kindOf(value).replace(/^an? /, "")} into Go struct field ${place}${name} of type ${TYPES[kind]}`,
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
