import { parseArguments } from "../../chat/arguments.ts";
import {
  type ChatReply,
  type MediaPart,
  type Native,
  nativeMembers,
  nativeOf,
  type Part,
  partsOf,
  type ReasoningPart,
  reasoningText,
} from "../../chat/reply.ts";
import type { EncodeContext } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

export const GEMINI_INTERACTIONS = "gemini-interactions";

export function members(native: Native | undefined): JsonObject | undefined {
  return nativeMembers(native, GEMINI_INTERACTIONS);
}

/** One step of an interaction, and how it is spread over the events of a stream. */
export interface EncodedStep {
  value: JsonObject;
  /** As it begins in a stream. */
  start: JsonObject;
  /** The text that grows in pieces, and the events that hold one. */
  text?: { whole: string; delta(piece: string): JsonObject };
  /** What follows whole. */
  deltas: JsonObject[];
}

/** The steps of a reply, whole and as they are streamed. */
export function encodeSteps(reply: ChatReply, context: EncodeContext): EncodedStep[] {
  return partsOf(reply).flatMap((part) => encodePart(part, context));
}

function encodePart(part: Part, context: EncodeContext): EncodedStep[] {
  switch (part.type) {
    case "text":
      return [encodeText(part.text, nativeOf(part.annotations, GEMINI_INTERACTIONS))];
    // A refusal is an answer like any other here.
    case "refusal":
      return [encodeText(part.text, undefined)];
    case "reasoning":
      return encodeThought(part);
    case "toolCall": {
      const { name, signature } = part;
      const call = {
        type: "function_call",
        id: part.id ?? context.id("call_"),
        ...(signature !== undefined && { signature }),
        name,
        ...members(part.native),
      };
      return [
        {
          value: { ...call, arguments: parseArguments(part.arguments) },
          start: { ...call, arguments: {} },
          text: { whole: part.arguments, delta: (piece) => ({ type: "arguments_delta", arguments: piece }) },
          deltas: [],
        },
      ];
    }
    case "webSearch": {
      const id = context.id("search_");
      return [
        whole({ type: "google_search_call", id, arguments: { queries: [part.query] }, search_type: "web_search" }),
        whole({ type: "google_search_result", call_id: id, result: [] }),
      ];
    }
    case "media": {
      const content = encodeMedia(part);
      return [{ value: modelOutput([content]), start: { type: "model_output" }, deltas: [content] }];
    }
    case "opaque":
      return part.dialect === GEMINI_INTERACTIONS && isObject(part.value) ? [whole(part.value)] : [];
  }
}

function whole(value: JsonObject): EncodedStep {
  return { value, start: value, deltas: [] };
}

function modelOutput(content: JsonObject[]): JsonObject {
  return { type: "model_output", content };
}

function encodeText(text: string, annotations: unknown): EncodedStep {
  const given = annotations !== undefined;
  return {
    value: modelOutput([{ type: "text", text, ...(given && { annotations }) }]),
    start: { type: "model_output" },
    text: { whole: text, delta: (piece) => ({ type: "text", text: piece }) },
    deltas: given ? [{ type: "text_annotation_delta", annotations }] : [],
  };
}

function encodeThought(part: ReasoningPart): EncodedStep[] {
  const { signature } = part;
  const text = reasoningText(part);
  if (text === undefined) return [];
  const content = (piece: string): JsonObject => ({ type: "text", text: piece });
  return [
    {
      value: {
        type: "thought",
        ...(signature !== undefined && { signature }),
        ...(text !== "" && { summary: [content(text)] }),
        ...members(part.native),
      },
      start: { type: "thought", ...members(part.native) },
      text: { whole: text, delta: (piece) => ({ type: "thought_summary", content: content(piece) }) },
      deltas: signature === undefined ? [] : [{ type: "thought_signature", signature }],
    },
  ];
}

function encodeMedia({ mime, data, url, native }: MediaPart): JsonObject {
  const [kind] = mime.split("/", 1);
  return {
    type: kind === "image" || kind === "audio" || kind === "video" ? kind : "document",
    mime_type: mime,
    ...(data !== undefined && { data }),
    ...(url !== undefined && { uri: url }),
    ...members(native),
  };
}
