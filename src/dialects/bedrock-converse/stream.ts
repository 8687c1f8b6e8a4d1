import type { ChatReply } from "../../chat/reply.ts";
import type { ContentBlock } from "../content-block.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import {
  type ConverseVariant,
  encodeBlocks,
  encodeUsage,
  LATENCY_MS,
  ownMembers,
  responseFields,
  roleOf,
  stopReason,
} from "./response.ts";

/**
 * Encodes the streamed reply.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 */
export function encodeConverseStream(reply: ChatReply, context: EncodeContext<ConverseVariant>): WireEvent[] {
  const events: WireEvent[] = [{ event: "messageStart", data: { role: roleOf(reply) } }];
  encodeBlocks(reply, context).forEach((block, contentBlockIndex) => {
    const { start, deltas } = streamed(block, context);
    // Only what cannot be told from its pieces is announced.
    if (start !== undefined) events.push({ event: "contentBlockStart", data: { contentBlockIndex, start } });
    for (const delta of deltas) events.push({ event: "contentBlockDelta", data: { contentBlockIndex, delta } });
    events.push({ event: "contentBlockStop", data: { contentBlockIndex } });
  });
  const fields = responseFields(reply, context);
  const stop = {
    stopReason: stopReason(reply),
    ...(fields !== undefined && { additionalModelResponseFields: fields }),
  };
  events.push(
    { event: "messageStop", data: stop },
    {
      event: "metadata",
      data: { usage: encodeUsage(reply, context), metrics: { latencyMs: LATENCY_MS }, ...ownMembers(reply, context) },
    },
  );
  return events;
}

interface Pieces {
  start?: JsonObject;
  deltas: JsonObject[];
}

function streamed({ value, input }: ContentBlock, context: EncodeContext): Pieces {
  const { text, toolUse, toolResult, reasoningContent, citationsContent, image } = value;
  if (typeof text === "string") return { deltas: texts(text, context) };
  if (isObject(toolUse) && input !== undefined) {
    const { input: _, ...start } = toolUse;
    const pieces = input === "" ? [""] : context.pieces(input);
    return { start: { toolUse: start }, deltas: pieces.map((piece) => ({ toolUse: { input: piece } })) };
  }
  if (isObject(toolResult)) {
    const { content, ...start } = toolResult;
    return { start: { toolResult: start }, deltas: [{ toolResult: content }] };
  }
  if (isObject(reasoningContent)) return { deltas: reasoning(reasoningContent, context) };
  if (isObject(citationsContent)) {
    const { content, citations } = citationsContent as { content: { text: string }[]; citations: unknown[] };
    return {
      deltas: [...content.flatMap((part) => texts(part.text, context)), ...citations.map((citation) => ({ citation }))],
    };
  }
  if (isObject(image)) {
    const { format, ...rest } = image;
    return { start: { image: { format } }, deltas: [{ image: rest }] };
  }
  return { deltas: [value] };
}

function texts(text: string, context: EncodeContext): JsonObject[] {
  return text === "" ? [{ text }] : context.pieces(text).map((piece) => ({ text: piece }));
}

function reasoning({ reasoningText, redactedContent }: JsonObject, context: EncodeContext): JsonObject[] {
  if (!isObject(reasoningText)) return [{ reasoningContent: { redactedContent } }];
  const { text, signature } = reasoningText;
  const pieces = context.pieces(text as string).map((piece) => ({ reasoningContent: { text: piece } }));
  return signature === undefined ? pieces : [...pieces, { reasoningContent: { signature } }];
}
