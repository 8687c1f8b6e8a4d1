import { notBase64At } from "../../wire/base64.ts";
import { badRequest } from "../api-error.ts";
import { invalid, listMember, objectMember, type Place, stringMember } from "../google/members.ts";
import type { JsonObject } from "../raw-request.ts";

const FUNCTIONS = [
  ["functionCall", "function_call"],
  ["functionResponse", "function_response"],
] as const;

/**
 * The parts of a content, none of them without what it cannot be without. A kind that is not known is let through.
 * @throws {ApiError} 400
 */
export function checkedParts(content: JsonObject, path: Place): JsonObject[] {
  const parts = listMember(content, "parts", () => `${path()}.parts`);
  parts.forEach((part, index) => {
    checkPart(part, () => `${path()}.parts[${index}]`);
  });
  return parts;
}

function checkPart(part: JsonObject, path: Place): void {
  const { text } = part;
  if (text !== undefined && text !== null && typeof text !== "string")
    throw invalid(`${path()}.text`, "TYPE_STRING", text);
  const data = objectMember(part, "inlineData", () => `${path()}.inline_data`);
  if (data !== undefined) checkData(data, () => `${path()}.inline_data`);
  for (const [name, at] of FUNCTIONS) {
    const place: Place = () => `${path()}.${at}`;
    const called = objectMember(part, name, place);
    if (called !== undefined) checkFunction(called, place);
  }
  for (const _ in part) return;
  throw badRequest(
    `* GenerateContentRequest.${path()}.data: required oneof field 'data' must have one initialized field`,
  );
}

function checkData(data: JsonObject, path: Place): void {
  stringMember(data, "mimeType", () => `${path()}.mime_type`);
  const bytes = stringMember(data, "data", () => `${path()}.data`);
  if (bytes !== undefined && notBase64At(bytes) >= 0) {
    throw badRequest(
      `Invalid value at '${path()}.data' (TYPE_BYTES), Base64 decoding failed for "${bytes.slice(0, 80)}"`,
      `${path()}.data`,
    );
  }
}

function checkFunction(called: JsonObject, path: Place): void {
  stringMember(called, "id", () => `${path()}.id`);
  if (!stringMember(called, "name", () => `${path()}.name`)) {
    throw badRequest(`* GenerateContentRequest.${path()}.name: Name cannot be empty.`, `${path()}.name`);
  }
}
