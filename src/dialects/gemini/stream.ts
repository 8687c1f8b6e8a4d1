import type { ChatReply } from "../../chat/reply.ts";
import { members } from "../gemini-parts/response.ts";
import { streamPart } from "../gemini-parts/stream.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import { candidatesOf, contentOf, encodeEnd, encodeTail, encodeUsage, type GeminiVariant } from "./response.ts";

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
