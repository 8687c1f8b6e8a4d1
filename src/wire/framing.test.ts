import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Framing, Noise } from "./framing.ts";
import { detectFraming, framings } from "./framings.ts";

const all = Object.values(framings);

/** Decodes the bytes cut at the given places. */
function decode(framing: Framing, bytes: Buffer, cuts: readonly number[], maxBytes?: number): (string | Noise)[] {
  const decoder = framing.decoder(maxBytes);
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const chunks = [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()];
}

const message = fc.json({ maxDepth: 3 }).filter((text) => text.trim() !== "");
const cuts = fc.array(fc.nat(), { maxLength: 40 });

describe.each(all)("framing $name", (framing) => {
  it("gives back what was written, whatever way the bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), cuts, (messages, places) => {
        const bytes = Buffer.from(messages.map((text) => framing.encode(text)).join(""));
        expect(decode(framing, bytes, places)).toEqual(messages);
      }),
    );
  });

  it("gives the same for any bytes, whatever way they are cut, and never throws", () => {
    const pieces = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 20 }),
        message.map((text) => Buffer.from(framing.encode(text))),
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(pieces, cuts, (parts, places) => {
        const bytes = Buffer.concat(parts);
        expect(decode(framing, bytes, places)).toEqual(decode(framing, bytes, []));
      }),
    );
  });

  it("takes a frame of 64 MB, and calls a longer one noise without keeping it", () => {
    const long = `"${"x".repeat(64 * 1024 * 1024 - 2)}"`;
    const decoder = framing.decoder();
    const bytes = Buffer.from(framing.encode(long) + framing.encode("1"));
    const frames: (string | Noise)[] = [];
    for (let at = 0; at < bytes.length; at += 1 << 20) frames.push(...decoder.push(bytes.subarray(at, at + (1 << 20))));
    expect(frames.map((frame) => (typeof frame === "string" ? frame.length : frame))).toEqual([long.length, 1]);
    const tooLong = decode(
      framing,
      Buffer.from(framing.encode("x".repeat(5000)) + framing.encode("2")),
      [7, 1500, 3000],
      4096,
    );
    expect(tooLong).toEqual([
      { noise: "x".repeat(1024), reason: expect.stringMatching(/5000 bytes, and 4096 is the limit/) },
      "2",
    ]);
  });

  it("calls bytes that are no UTF-8 noise instead of replacing them", () => {
    const bytes = Buffer.concat([Buffer.from(framing.encode('"aXb"')), Buffer.from(framing.encode("3"))]);
    bytes[bytes.indexOf("X")] = 0xff;
    expect(decode(framing, bytes, [])).toEqual([{ noise: expect.any(String), reason: "it is no UTF-8" }, "3"]);
  });
});

describe("lines", () => {
  it("ends a line at a line feed only: other separators are text, and blank lines are nothing", () => {
    expect(decode(framings.lines, Buffer.from('"a\u2028b\u2029c\u0085d"\r\n\n  \n{"b":1}'), [])).toEqual([
      '"a\u2028b\u2029c\u0085d"\r',
      '{"b":1}',
    ]);
  });
});

describe("content-length", () => {
  it("counts bytes, not characters", () => {
    expect(framings["content-length"].encode('"ü🌱"')).toBe('Content-Length: 8\r\n\r\n"ü🌱"');
  });

  it("takes other headers, any case, and lone line feeds", () => {
    const bytes = Buffer.from(
      "content-type: application/vscode-jsonrpc; charset=utf-8\r\nCONTENT-LENGTH:1\r\n\r\n1Content-Length: 2\n\n22",
    );
    expect(decode(framings["content-length"], bytes, [])).toEqual(["1", "22"]);
  });

  it("shows what is no header and finds the next frame", () => {
    expect(decode(framings["content-length"], Buffer.from("debug: hello\nContent-Length: 1\r\n\r\n1"), [])).toEqual([
      { noise: "debug: hello", reason: "it is no header" },
      "1",
    ]);
  });

  it("says when a body is cut", () => {
    expect(decode(framings["content-length"], Buffer.from("Content-Length: 9\r\n\r\n1234"), [])).toEqual([
      { noise: "1234", reason: "it ends after 4 of 9 bytes" },
    ]);
  });
});

describe("detectFraming", () => {
  it.each([
    [' \n{"jsonrpc"', "lines"],
    ["[", "lines"],
    ["Content-Length: 3", "content-length"],
    ["content-type: x", "content-length"],
    [" \r\n", undefined],
  ])("reads %j as %s", (text, name) => {
    expect(detectFraming(Buffer.from(text))?.name).toBe(name);
  });
});
