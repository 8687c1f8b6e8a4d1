import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RawRequest } from "../dialects/raw-request.ts";
import { withoutMetadata } from "./call-metadata.ts";

const request = (body: string, headers: Record<string, string> = {}): RawRequest =>
  new RawRequest("POST", "/v1/chat/completions", headers, Buffer.from(body));

const own = fc.uniqueArray(fc.constantFrom("vcr_scenario", "vcr_invoker", "vcr_filename", "vcr_other"), {
  minLength: 1,
});
const name = fc.string({ unit: "grapheme" }).filter((text) => !text.startsWith("vcr_") && text !== "__proto__");
const members = fc.dictionary(name, fc.jsonValue(), { maxKeys: 4 });
/** Members of an object in any order. */
const shuffled = (object: object, order: readonly number[]): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(object)
      .map((entry, index) => ({ entry, at: order[index] ?? 0 }))
      .sort((one, other) => one.at - other.at)
      .map(({ entry }) => entry),
  );

describe("what a body says of its cassette", () => {
  it("is taken off, and all else stays as it was, to the byte", () => {
    fc.assert(
      fc.property(
        own,
        members,
        members,
        fc.array(fc.nat(), { maxLength: 10 }),
        fc.constantFrom(undefined, 1, "\t"),
        (names, metadata, rest, order, indent) => {
          const marks = Object.fromEntries(names.map((mark) => [mark, `is ${mark}`]));
          const said = shuffled({ ...metadata, ...marks }, order);
          const body = shuffled({ ...rest, metadata: said }, order.toReversed());
          const { vcr_scenario: _, ...kept } = said;
          for (const mark of names) delete kept[mark];
          const left: Record<string, unknown> = { ...body, metadata: kept };
          if (Object.keys(kept).length === 0) delete left["metadata"];
          const raw = withoutMetadata(request(JSON.stringify(body, null, indent)));
          expect(JSON.parse(raw.text)).toEqual(JSON.parse(JSON.stringify(left)));
          expect(Object.keys(raw.json as object)).toEqual(Object.keys(JSON.parse(JSON.stringify(left))));
          if (indent === undefined) expect(raw.text).toBe(JSON.stringify(left));
          expect(raw.header("x-vcr-scenario")).toBe(
            names.includes("vcr_scenario") ? encodeURIComponent("is vcr_scenario") : undefined,
          );
        },
      ),
    );
  });

  it("leaves a body alone that says nothing of it, whatever it is", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string({ unit: "binary" })), (body) => {
        const raw = request(body);
        expect(withoutMetadata(raw)).toBe(raw);
      }),
    );
    for (const body of [
      '{"metadata":"vcr_scenario"}',
      '{"vcr_scenario":"x"}',
      '["vcr_scenario"]',
      '{"metadata":{"a":"vcr_',
      "{",
    ]) {
      const raw = request(body.replace("vcr_", '"vcr_'));
      expect(withoutMetadata(raw)).toBe(raw);
    }
  });

  it("gives way to a header, keeps numbers as they are written, and may be null", () => {
    const body = '{"seed":9007199254740993,"metadata":{"vcr_scenario":"by body","vcr_invoker":null,"n":1.0},"x":1e2}';
    const raw = withoutMetadata(request(body, { "x-vcr-scenario": "by header" }));
    expect(raw.text).toBe('{"seed":9007199254740993,"metadata":{"n":1.0},"x":1e2}');
    expect(raw.headers).toEqual({ "x-vcr-scenario": "by header" });
  });
});
