import { type ChatReply, partsOf } from "../../chat/reply.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { encodeToolCall, end, type Form, head } from "./response.ts";

/** Encodes the streamed reply: a line for each piece, the parts in their order, and one for the end. */
export function encodeOllamaStream(form: Form, reply: ChatReply, context: EncodeContext): WireEvent[] {
  const start = head(reply, context);
  const role = reply.envelope?.role;
  const events: WireEvent[] = [];
  const send = (content: string, thinking?: string, calls: JsonObject[] = []): void => {
    events.push({ data: { ...start, ...form(content, thinking, calls, role), done: false } });
  };
  let calls = 0;
  for (const part of partsOf(reply)) {
    switch (part.type) {
      case "text":
      case "refusal":
        for (const piece of context.pieces(part.text)) send(piece);
        break;
      case "reasoning":
        for (const piece of context.pieces(part.text)) send("", piece);
        break;
      case "toolCall":
        send("", undefined, [encodeToolCall(part, calls++, context)]);
        break;
    }
  }
  events.push({ data: { ...start, ...form("", undefined, [], role), ...end(reply, context) } });
  return events;
}
