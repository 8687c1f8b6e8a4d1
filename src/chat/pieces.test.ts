import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pieces } from "./pieces.ts";

describe("pieces", () => {
  it("cuts plain text by size", () => {
    expect(pieces("Hello, world", 5)).toEqual(["Hello", ", wor", "ld"]);
  });

  it("gives nothing for an empty text", () => {
    expect(pieces("", 20)).toEqual([]);
  });

  it("keeps a grapheme whole that is longer than the size", () => {
    const family = "👨‍👩‍👧‍👦";
    expect(pieces(`a${family}b`, 3)).toEqual(["a", family, "b"]);
  });

  it("keeps a combining accent with its letter", () => {
    expect(pieces("cafe\u0301!", 4)).toEqual(["caf", "e\u0301!"]);
  });

  it("keeps a carriage return with its line feed", () => {
    expect(pieces("a\r\nb", 2)).toEqual(["a", "\r\n", "b"]);
  });

  it("joins to the text and never cuts inside a grapheme", () => {
    const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.integer({ min: 1, max: 12 }), (text, size) => {
        const cut = pieces(text, size);
        expect(cut.join("")).toBe(text);
        const boundaries = new Set([...segmenter.segment(text)].map((cluster) => cluster.index));
        let at = 0;
        for (const piece of cut) {
          expect(boundaries.has(at)).toBe(true);
          at += piece.length;
        }
      }),
    );
  });
});
