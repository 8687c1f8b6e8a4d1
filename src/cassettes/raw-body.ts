import type { RawFraming, RawPayload, RecordedHttp } from "./types.ts";

/**
 * How a recorded body is made of the raw payload. Most are exactly what these make; where a provider wrote its JSON
 * in another way, the body itself is kept beside it.
 * @param texts the chunks of the body, each ending where a message does
 */
export function framingOf(payload: RawPayload, texts: readonly string[]): RawFraming | undefined {
  const body = texts.join("");
  for (const framing of FRAMINGS) {
    const made = madeOf(payload, framing);
    if (made !== undefined && made.length === texts.length && made.join("") === body) return framing;
  }
  return undefined;
}

const FRAMINGS: readonly RawFraming[] = ["json", "sse", "sse-done", "sse-named", "ndjson"];

/** The chunks of the body that a raw payload makes; undefined where it makes none. */
export function madeOf(
  { sync_response: unary, stream_chunks: chunks }: RawPayload,
  framing: RawFraming,
): string[] | undefined {
  if (framing === "json") return unary === undefined ? undefined : [JSON.stringify(unary)];
  if (chunks === undefined) return undefined;
  switch (framing) {
    case "sse":
      return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
    case "sse-done":
      return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n"];
    case "sse-named":
      return chunks.map((chunk) => `event: ${typeOf(chunk)}\ndata: ${JSON.stringify(chunk)}\n\n`);
    case "ndjson":
      return chunks.map((chunk) => `${JSON.stringify(chunk)}\n`);
  }
}

function typeOf(chunk: unknown): string {
  return String((chunk as { type?: unknown } | null)?.type ?? "");
}

/** The body of a reply as it was recorded, a stream's in its chunks; undefined where there is no raw layer. */
export function recordedBody(
  payload: RawPayload | undefined,
  { body, framing, encoding, times_ms: times }: RecordedHttp,
): string | Uint8Array | (string | Uint8Array)[] | undefined {
  const bytes = (text: string): string | Uint8Array => (encoding === "base64" ? Buffer.from(text, "base64") : text);
  if (body !== undefined) return Array.isArray(body) ? body.map(bytes) : bytes(body);
  if (payload === undefined || framing === undefined) return undefined;
  const made = madeOf(payload, framing);
  return made === undefined || times !== undefined ? made : made.join("");
}
