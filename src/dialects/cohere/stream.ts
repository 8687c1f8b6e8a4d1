import { type ChatReply, partsOf } from "../../chat/reply.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import {
  citationsOf,
  encodeContent,
  encodeToolCall,
  encodeUsage,
  finishReason,
  idOf,
  isPlan,
  members,
} from "./response.ts";

/**
 * Encodes the streamed reply.
 * @see https://docs.cohere.com/v2/docs/streaming
 */
export function encodeCohereStream(reply: ChatReply, context: EncodeContext): WireEvent[] {
  const events: WireEvent[] = [];
  const send = (type: string, fields: JsonObject): void => {
    events.push({ event: type, data: { type, ...fields } });
  };
  const message = (type: string, index: number, fields: JsonObject): void => {
    send(type, { index, delta: { message: fields } });
  };
  const role = reply.envelope?.role ?? "assistant";
  const start = { role, content: [], tool_plan: "", tool_calls: [], citations: [] };
  send("message-start", { id: idOf(reply, context), delta: { message: start } });
  let contents = 0;
  let calls = 0;
  let citations = 0;
  for (const part of partsOf(reply)) {
    if (isPlan(part)) {
      for (const piece of context.pieces(part.text))
        send("tool-plan-delta", { delta: { message: { tool_plan: piece } } });
    } else if (part.type === "toolCall") {
      const index = calls++;
      const call = encodeToolCall(part, context);
      message("tool-call-start", index, { tool_calls: { ...call, function: { name: part.name, arguments: "" } } });
      for (const piece of context.pieces(part.arguments)) {
        message("tool-call-delta", index, { tool_calls: { function: { arguments: piece } } });
      }
      send("tool-call-end", { index });
    } else {
      const block = encodeContent(part);
      if (block === undefined) continue;
      const index = contents++;
      // A part's text has the name of its type.
      const field = block["type"] as string;
      const text = block[field];
      if (typeof text === "string") {
        message("content-start", index, { content: { ...block, [field]: "" } });
        for (const piece of context.pieces(text)) message("content-delta", index, { content: { [field]: piece } });
      } else message("content-start", index, { content: block });
      for (const citation of part.type === "text" ? citationsOf(part) : []) {
        message("citation-start", citations, { citations: citation });
        send("citation-end", { index: citations++ });
      }
      send("content-end", { index });
    }
  }
  const delta = { finish_reason: finishReason(reply), usage: encodeUsage(reply, context) };
  send("message-end", { delta, ...members(reply.envelope?.native) });
  events.push({ data: "[DONE]", raw: true, rides: true });
  return events;
}
