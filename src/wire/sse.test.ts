import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeSse, encodeSseComment, type SseComment, type SseMessage, SseParser } from "./sse.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function parse(pieces: Uint8Array[]): (SseMessage | SseComment)[] {
  const parser = new SseParser();
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

/** The bytes cut at places that are given as shares of their length. */
function cut(whole: Uint8Array, shares: number[]): Uint8Array[] {
  const places = [0, ...shares.map((share) => Math.floor(share * whole.length)).sort((a, b) => a - b), whole.length];
  return places.slice(1).map((end, index) => whole.subarray(places[index], end));
}

const share = fc.double({ min: 0, max: 1, noNaN: true });
const shares = fc.array(share, { maxLength: 12 });

describe("reading server-sent events", () => {
  test("gives name, id and data of each event, and comments in their place", () => {
    expect(parse([bytes(": hold on\n\nevent: ping\nid: 7\ndata: {}\n\ndata: a\ndata: b\n\n")])).toEqual([
      { comment: "hold on" },
      { event: "ping", id: "7", data: "{}" },
      { data: "a\nb" },
    ]);
  });

  test("takes all three kinds of line break", () => {
    expect(parse([bytes("data: a\r\n\r\ndata: b\r\rdata: c\n\n")])).toEqual([
      { data: "a" },
      { data: "b" },
      { data: "c" },
    ]);
  });

  test("passes over a byte order mark, unknown fields and events without data", () => {
    expect(parse([bytes("\ufeffdata: a\n\nevent: empty\n\nretry: 10\nother: x\n\ndata\n\n")])).toEqual([
      { data: "a" },
      { data: "" },
    ]);
  });

  test("reads a last event that only the end of the stream closes", () => {
    expect(parse([bytes("data: a\n\ndata: [DONE]")])).toEqual([{ data: "a" }, { data: "[DONE]" }]);
  });

  test("any split of the bytes gives the same messages", () => {
    const line = fc.oneof(
      fc.constantFrom("data: ", "data:", "event: x", ": c", "id: 1", "", "data", "\ufeff"),
      fc.string({ unit: "grapheme" }).map((text) => `data: ${text}`),
    );
    const ending = fc.constantFrom("\n", "\r\n", "\r", "\n\n");
    const stream = fc.array(fc.tuple(line, ending)).map((lines) => bytes(lines.flat().join("")));
    fc.assert(
      fc.property(fc.oneof(stream, fc.uint8Array({ maxLength: 200 })), shares, (whole, places) => {
        expect(parse(cut(whole, places))).toEqual(parse([whole]));
      }),
      { numRuns: 1000 },
    );
  });
});

describe("writing server-sent events", () => {
  test("an event is a name and a line of data", () => {
    expect(encodeSse('{"a":1}', "ping")).toBe('event: ping\ndata: {"a":1}\n\n');
    expect(encodeSse("[DONE]")).toBe("data: [DONE]\n\n");
  });

  test("a comment is a line that begins with a colon", () => {
    expect(encodeSseComment("hold on")).toBe(": hold on\n\n");
  });

  test("what was written is read again, whatever it holds and however it is split", () => {
    const text = fc.string({ unit: "binary" }).map((value) => value.replaceAll("\r", ""));
    const name = fc.option(fc.stringMatching(/^[a-z_.]{1,12}$/), { nil: undefined });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, name)), shares, (events, places) => {
        const written = events.map(([data, event]) => encodeSse(data, event)).join("");
        const expected = events.map(([data, event]) => (event === undefined ? { data } : { data, event }));
        expect(parse(cut(bytes(written), places))).toEqual(expected);
      }),
    );
  });
});
