import { parseArguments } from "../../chat/arguments.ts";
import type { ChatReply, Part, ToolCallPart } from "../../chat/reply.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import { assignmentsOf } from "../partial-args.ts";
import type { JsonObject } from "../raw-request.ts";
import {
  candidatesOf,
  contentOf,
  encodeCall,
  encodeEnd,
  encodePart,
  encodeTail,
  encodeUsage,
  type GeminiVariant,
  members,
} from "./response.ts";

/**
 * Encodes the streamed reply: a chunk is a response with a piece of one part. The last one of a candidate tells
 * how it ended, the last one of all the usage.
 * @see https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
 */
export function encodeGenerateStream(reply: ChatReply, context: EncodeContext<GeminiVariant>): WireEvent[] {
  const candidates = candidatesOf(reply, context).flatMap((choice, index) => {
    const pieces = choice.parts.flatMap((part) => streamPart(part, context)).map((piece) => [piece]);
    const contents = (pieces.length > 0 ? pieces : [[]]).map((parts) => contentOf(parts, reply));
    return contents.map((content, at) => ({
      content,
      ...(at === contents.length - 1 && encodeEnd(choice)),
      index,
      ...(at === contents.length - 1 && members(choice.native)),
    }));
  });
  const usageMetadata = encodeUsage(reply, context);
  const tail = encodeTail(reply, context);
  if (candidates.length === 0) return [{ data: { usageMetadata, ...tail } }];
  return candidates.map((candidate, at) => ({
    data: {
      candidates: [candidate],
      ...(at === candidates.length - 1 && { usageMetadata }),
      ...tail,
    },
  }));
}

function streamPart(part: Part, context: EncodeContext<GeminiVariant>): JsonObject[] {
  if (part.type === "toolCall" && context.variant.partialArgs) return streamCall(part, context);
  return encodePart(part).flatMap((whole) => {
    const { text, thought, ...rest } = whole;
    if (typeof text !== "string" || text === "") return [whole];
    const kind = thought === undefined ? undefined : { thought };
    const pieces: JsonObject[] = context.pieces(text).map((piece) => ({ text: piece, ...kind }));
    // A signature comes when all of the text is there, with an empty piece.
    if (Object.keys(rest).length > 0) pieces.push({ text: "", ...kind, ...rest });
    return pieces;
  });
}

/** @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling */
function streamCall(call: ToolCallPart, context: EncodeContext): JsonObject[] {
  const args = parseArguments(call.arguments);
  const assignments = assignmentsOf(args, (text) => context.pieces(text));
  if (assignments === undefined) return [encodeCall(call, { args })];
  return [
    encodeCall(call, { willContinue: true }),
    ...assignments.map((assignment) => ({ functionCall: { partialArgs: [assignment], willContinue: true } })),
    { functionCall: {} },
  ];
}
