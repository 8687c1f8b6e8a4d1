import type { ContentBlock } from "../content-block.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";

/** The provider shows that it is there, once the first block has begun. */
export const PING: WireEvent = { event: "ping", data: { type: "ping" }, rides: true };

export function event(type: string, members: JsonObject): WireEvent {
  return { event: type, data: { type, ...members } };
}

/** The events of a block. */
export function streamBlock(
  { value, input }: ContentBlock,
  index: number,
  context: EncodeContext,
  events: WireEvent[],
): void {
  const start = (content_block: JsonObject): void => {
    events.push(event("content_block_start", { index, content_block }));
    if (index === 0) events.push(PING);
  };
  const delta = (type: string, name: string, given: unknown): void => {
    events.push(event("content_block_delta", { index, delta: { type, [name]: given } }));
  };
  const { type, text, thinking, signature, content, citations } = value;
  if (input !== undefined) {
    start({ ...value, input: {} });
    delta("input_json_delta", "partial_json", "");
    if (input !== "{}") for (const piece of context.pieces(input)) delta("input_json_delta", "partial_json", piece);
  } else if (type === "text" && typeof text === "string") {
    start({ ...value, text: "", ...(Array.isArray(citations) && { citations: [] }) });
    for (const piece of context.pieces(text)) delta("text_delta", "text", piece);
    if (Array.isArray(citations)) for (const citation of citations) delta("citations_delta", "citation", citation);
  } else if (type === "thinking" && typeof thinking === "string") {
    start({ ...value, thinking: "", signature: "" });
    for (const piece of context.pieces(thinking)) delta("thinking_delta", "thinking", piece);
    if (typeof signature === "string" && signature !== "") delta("signature_delta", "signature", signature);
  } else if (type === "compaction" && typeof content === "string") {
    start({ ...value, content: null });
    delta("compaction_delta", "content", content);
  } else {
    start(value);
  }
  events.push(event("content_block_stop", { index }));
}
