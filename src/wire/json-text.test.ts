import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatPointer, parsePointer, spansOf } from "./json-pointer.ts";
import { childrenAt, kindAt, memberAt, numberKey, replaceSpans, rootSpan } from "./json-text.ts";

/** Reads a JSON text through the scanner alone. */
function read(text: string, start = rootSpan(text).start, end = rootSpan(text).end): unknown {
  const kind = kindAt(text, start);
  const children = childrenAt(text, start);
  if (kind === "array") return children.map((child) => read(text, child.start, child.end));
  if (kind === "object")
    return Object.fromEntries(children.map((child) => [child.key, read(text, child.start, child.end)]));
  return JSON.parse(text.slice(start, end));
}

describe("the JSON scanner", () => {
  it("finds the same values as JSON.parse, with any white space", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1, 2, "\t"), (value, space) => {
        const text = ` ${JSON.stringify(value, null, space)}\r\n`;
        expect(read(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it("sees a member called __proto__, and the last of repeated ones", () => {
    const text = '{"__proto__": 1, "a": 2, "a" : "\\"}"}';
    expect(childrenAt(text, 0).map((child) => child.key)).toEqual(["__proto__", "a", "a"]);
    const last = memberAt(text, 0, "a");
    expect(text.slice(last?.start, last?.end)).toBe('"\\"}"');
  });

  it("decodes escaped names", () => {
    expect(memberAt('{"\\u0069d": 7}', 0, "id")).toMatchObject({ start: 12, end: 13 });
  });

  it("replaces spans and leaves every other byte", () => {
    const text = '{ "a" : 1.0, "b":[ 2 ,3e5 ] }';
    expect(replaceSpans(text, spansOf(text, ["b", "*"]), "0")).toBe('{ "a" : 1.0, "b":[ 0 ,0 ] }');
    expect(replaceSpans(text, [...spansOf(text, ["b", "1"]), ...spansOf(text, ["b"])], "null")).toBe(
      '{ "a" : 1.0, "b":null }',
    );
  });
});

describe("numberKey", () => {
  it.each([
    ["1", "1.0"],
    ["100", "1e2"],
    ["0", "-0.00"],
    ["1.50", "15E-1"],
    ["12345678901234567890", "1.234567890123456789e19"],
  ])("takes %s and %s as the same", (a, b) => {
    expect(numberKey(a)).toBe(numberKey(b));
  });

  it.each([
    ["9007199254740993", "9007199254740992"],
    ["0.1", "0.10000000000000001"],
    ["1", "-1"],
    ["1e400", "1e401"],
    ["10", "1"],
  ])("tells %s from %s", (a, b) => {
    expect(numberKey(a)).not.toBe(numberKey(b));
  });

  it("agrees with arithmetic on whole numbers", () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt(), (a, b) => (numberKey(String(a)) === numberKey(String(b))) === (a === b)),
    );
    fc.assert(
      fc.property(
        fc.bigInt(),
        fc.nat(30),
        (a, zeros) => numberKey(`${a}${"0".repeat(zeros)}`) === numberKey(`${a}.0e${zeros}`),
      ),
    );
  });
});

describe("JSON Pointers", () => {
  it("come back as they were, whatever is in a name", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (segments) => {
        expect(parsePointer(formatPointer(segments))).toEqual(segments);
      }),
    );
  });

  it("refuses what is none", () => {
    expect(() => parsePointer("result/x")).toThrow('"result/x" is no JSON Pointer: it has to start with "/".');
    expect(() => parsePointer("/a~b")).toThrow('"~" is written "~0"');
  });

  it("matches every element and member with *, and nothing is no error", () => {
    const text = '{"items":[{"at":1,"b/~":2},{"at":3}],"more":{"x":{"at":4}},"*":5}';
    const found = (pointer: string) =>
      spansOf(text, parsePointer(pointer)).map((span) => text.slice(span.start, span.end));
    expect(found("/items/*/at")).toEqual(["1", "3"]);
    expect(found("/*/*/at")).toEqual(["1", "3", "4"]);
    expect(found("/items/0/b~1~0")).toEqual(["2"]);
    expect(found("/items/01/at")).toEqual([]);
    expect(found("/items/-")).toEqual([]);
    expect(found("/more/*/*/*")).toEqual([]);
    expect(found("")).toEqual([text]);
  });

  it("finds any leaf of any value by its own pointer, and all of them by *", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value);
        const leaves: { segments: string[]; leaf: string }[] = [];
        const walk = (start: number, end: number, segments: string[]) => {
          const children = childrenAt(text, start);
          if (children.length === 0) leaves.push({ segments, leaf: text.slice(start, end) });
          for (const child of children) walk(child.start, child.end, [...segments, child.key]);
        };
        walk(0, text.length, []);
        for (const { segments, leaf } of leaves) {
          const texts = (pattern: string[]) => spansOf(text, pattern).map((span) => text.slice(span.start, span.end));
          if (!segments.includes("*")) expect(texts(segments)).toEqual([leaf]);
          expect(texts(segments.map(() => "*"))).toContain(leaf);
        }
      }),
    );
  });
});
