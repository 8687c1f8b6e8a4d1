import type { Framing, HeaderFields } from "./operation.ts";

/** What the head of a stream says of its body. */
export const STREAM_HEADERS: Record<Framing, HeaderFields> = {
  sse: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
  ndjson: { "content-type": "application/x-ndjson" },
  "json-array": { "content-type": "application/json; charset=UTF-8" },
  "aws-event-stream": { "content-type": "application/vnd.amazon.eventstream" },
  // Only its clients want to know what is inside.
  "aws-payload-parts": {
    "content-type": "application/vnd.amazon.eventstream",
    "x-amzn-bedrock-content-type": "application/json",
  },
};
