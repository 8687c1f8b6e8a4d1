import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { madeVector } from "./vectors.ts";

describe("madeVector", () => {
  it("has the dimensions asked for and unit length, and depends on the text alone", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 300 }), (text, dimensions) => {
        const vector = madeVector(text, dimensions);
        expect(vector).toHaveLength(dimensions);
        expect(Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))).toBeCloseTo(1, 10);
        expect(madeVector(text, dimensions)).toEqual(vector);
      }),
    );
  });

  it("puts different texts nearly at right angles", () => {
    const cosine = (one: number[], other: number[]): number =>
      one.reduce((sum, value, index) => sum + value * other[index]!, 0);
    const texts = Array.from({ length: 30 }, (_, index) => madeVector(`text ${index}`, 1536));
    for (let one = 0; one < texts.length; one++) {
      for (let other = 0; other < one; other++) expect(Math.abs(cosine(texts[one]!, texts[other]!))).toBeLessThan(0.15);
    }
  });
});
