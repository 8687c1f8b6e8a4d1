import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { framingOf, madeOf, recordedBody } from "./raw-body.ts";
import type { RawFraming, RawPayload } from "./types.ts";

const chunk = fc.oneof(fc.jsonValue(), fc.record({ type: fc.string(), text: fc.string({ unit: "binary" }) }));
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("a recorded body", () => {
  it("is made of its raw payload again, in its chunks, whatever the framing", () => {
    const framing = fc.constantFrom<RawFraming>("json", "sse", "sse-done", "sse-named", "ndjson");
    fc.assert(
      fc.property(framing, fc.array(chunk, { minLength: 1, maxLength: 6 }), (how, chunks) => {
        const payload: RawPayload =
          how === "json" ? { sync_response: plain(chunks[0]) } : { stream_chunks: chunks.map(plain) };
        const texts = madeOf(payload, how)!;
        const found = framingOf(payload, texts)!;
        expect(madeOf(payload, found)).toEqual(texts);
        const http = { status: 200, headers: {}, framing: found };
        expect(recordedBody(payload, http)).toBe(texts.join(""));
        if (how !== "json") expect(recordedBody(payload, { ...http, times_ms: texts.map(() => 0) })).toEqual(texts);
      }),
    );
  });

  it("is kept beside the payload where it is written in another way, and comes back byte for byte", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        (texts, streamed) => {
          const payload: RawPayload = { sync_response: { some: "thing" } };
          if (framingOf(payload, texts) !== undefined) return;
          const body = streamed ? texts : texts.join("");
          expect(recordedBody(payload, { status: 200, headers: {}, body })).toEqual(body);
        },
      ),
    );
    const bytes = fc.uint8Array();
    fc.assert(
      fc.property(fc.array(bytes), (chunks) => {
        const body = chunks.map((one) => Buffer.from(one).toString("base64"));
        const made = recordedBody(undefined, { status: 200, headers: {}, body, encoding: "base64" });
        expect(made).toEqual(chunks.map((one) => Buffer.from(one)));
      }),
    );
  });

  it.each([
    ["a space", '{"a": 1}', { a: 1 }],
    ["a number beyond what a double holds", '{"a":9007199254740993}', { a: 9007199254740992 }],
    ["a number with a zero", '{"a":1.0}', { a: 1 }],
    ["an escape", '{"a":"\\u0041"}', { a: "A" }],
    ["a line break at the end", '{"a":1}\n', { a: 1 }],
  ])("is not taken for what it is not: %s", (_, text, value) => {
    expect(framingOf({ sync_response: value }, [text])).toBeUndefined();
  });
});
