import { parseArguments } from "../../chat/arguments.ts";
import {
  type MediaPart,
  type Native,
  nativeMembers,
  type Part,
  type ReasoningPart,
  reasoningText,
  type ToolCallPart,
} from "../../chat/reply.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

export const GEMINI = "gemini";

export function members(native: Native | undefined): JsonObject | undefined {
  return nativeMembers(native, GEMINI);
}

/**
 * A part, whole. Signatures stand where they were written.
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function encodePart(part: Part): JsonObject[] {
  switch (part.type) {
    case "text":
      return [{ text: part.text, ...signed(part.signature), ...members(part.annotations) }];
    case "reasoning":
      return encodeThought(part);
    case "toolCall":
      return [encodeCall(part, { args: parseArguments(part.arguments) })];
    case "media":
      return [encodeMedia(part)];
    case "opaque":
      return part.dialect === GEMINI && isObject(part.value) ? [part.value] : [];
    // What was searched for is in the grounding metadata, why it was refused in the finish message.
    case "webSearch":
    case "refusal":
      return [];
  }
}

function encodeThought(part: ReasoningPart): JsonObject[] {
  const text = reasoningText(part);
  if (text === undefined) return [];
  return [{ text, thought: true, ...signed(part.signature), ...members(part.native) }];
}

/** No id is invented: calls without one are told apart by their position. */
export function encodeCall({ id, name, signature, native }: ToolCallPart, rest: JsonObject): JsonObject {
  return { functionCall: { ...(id !== undefined && { id }), name, ...rest }, ...signed(signature), ...members(native) };
}

function encodeMedia({ mime, data, url, native }: MediaPart): JsonObject {
  const media =
    data !== undefined
      ? { inlineData: { mimeType: mime, data } }
      : { fileData: { mimeType: mime, fileUri: url ?? "" } };
  return { ...media, ...members(native) };
}

function signed(signature: string | undefined): JsonObject | undefined {
  return signature === undefined ? undefined : { thoughtSignature: signature };
}
