import { parseArguments } from "../../chat/arguments.ts";
import type { Part, ToolCallPart } from "../../chat/reply.ts";
import type { EncodeContext } from "../operation.ts";
import { assignmentsOf } from "../partial-args.ts";
import type { JsonObject } from "../raw-request.ts";
import { encodeCall, encodePart } from "./response.ts";

export interface PartsVariant extends Record<string, unknown> {
  /** Whether the arguments of calls are streamed in pieces. */
  partialArgs: boolean;
}

/** The pieces of a part, one for each chunk of a stream. */
export function streamPart(part: Part, context: EncodeContext<PartsVariant>): JsonObject[] {
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
