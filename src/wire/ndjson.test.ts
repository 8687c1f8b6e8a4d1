import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeNdjson, NdjsonParser } from "./ndjson.ts";

function parse(whole: Uint8Array, places: number[] = []): string[] {
  const parser = new NdjsonParser();
  const cuts = [...places.map((place) => place % (whole.length + 1)).sort((a, b) => a - b), whole.length];
  const lines: string[] = [];
  let from = 0;
  for (const to of cuts) {
    lines.push(...parser.push(whole.subarray(from, to)));
    from = to;
  }
  return [...lines, ...parser.end()];
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test("a line is a value; blank lines and the carriage return are passed over", () => {
  expect(parse(bytes('{"a":1}\r\n\n  \n[2]\n3'))).toEqual(['{"a":1}', "[2]", "3"]);
});

test("any split of the bytes gives the same lines", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.array(fc.nat(), { maxLength: 8 }), (whole, places) => {
      expect(parse(whole, places)).toEqual(parse(whole));
    }),
    { numRuns: 1000 },
  );
});

test("what was written is read again, however it is split", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.array(fc.nat(), { maxLength: 8 }), (values, places) => {
      const written = bytes(values.map(encodeNdjson).join(""));
      expect(parse(written, places).map((line) => JSON.parse(line))).toEqual(
        values.map((value) => JSON.parse(JSON.stringify(value))),
      );
    }),
  );
});
