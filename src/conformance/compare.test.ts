import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pointerSegment } from "../wire/json-pointer.ts";
import { compare } from "./compare.ts";
import { redact, VOLATILE_MASK } from "./redact.ts";

const frame = (result: unknown, id: unknown = 1) => JSON.stringify({ jsonrpc: "2.0", id, result });
const places = (want: string[], got: string[], volatile: string[] = []) =>
  compare("c", want, got, volatile).map(({ response, pointer, detail }) => [response, pointer, detail]);

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
interface Edit {
  pointer: string;
  kind: string;
  apply(root: Json): void;
}

/** Every edit of one place: another value, a member or last element less, a member or element more. */
function editsOf(value: Json, pointer: string, reach: (root: Json) => Json): Edit[] {
  if (Array.isArray(value)) {
    const last = value.length - 1;
    return [
      {
        pointer: `${pointer}/${value.length}`,
        kind: "this element is unexpected",
        apply: (root) => void (reach(root) as Json[]).push("new"),
      },
      ...(last >= 0
        ? [
            {
              pointer: `${pointer}/${last}`,
              kind: "this element is missing",
              apply: (root: Json) => void (reach(root) as Json[]).pop(),
            },
          ]
        : []),
      ...value.flatMap((child, at) => [
        ...editsOf(child, `${pointer}/${at}`, (root) => (reach(root) as Json[])[at] as Json),
        ...(isLeaf(child)
          ? [
              {
                pointer: `${pointer}/${at}`,
                kind: "",
                apply: (root: Json) => void (reach(root) as Json[]).splice(at, 1, another(child)),
              },
            ]
          : []),
      ]),
    ];
  }
  if (value === null || typeof value !== "object") return [];
  const set = (root: Json, key: string, child: Json) =>
    Object.defineProperty(reach(root), key, { value: child, enumerable: true, configurable: true, writable: true });
  return [
    ...(Object.hasOwn(value, "new member")
      ? []
      : [
          {
            pointer: `${pointer}/new member`,
            kind: "this member is unexpected",
            apply: (root: Json) => void set(root, "new member", null),
          },
        ]),
    ...Object.entries(value).flatMap(([key, child]) => {
      const at = pointer + pointerSegment(key);
      return [
        {
          pointer: at,
          kind: "this member is missing",
          apply: (root: Json) => void delete (reach(root) as { [name: string]: Json })[key],
        },
        ...(isLeaf(child)
          ? [{ pointer: at, kind: "", apply: (root: Json) => void set(root, key, another(child)) }]
          : []),
        ...editsOf(child, at, (root) => (reach(root) as { [name: string]: Json })[key] as Json),
      ];
    }),
  ];
}

const isLeaf = (value: Json) => value === null || typeof value !== "object";

function another(leaf: Json): Json {
  if (typeof leaf === "number") return String(leaf);
  return leaf === null ? false : leaf === "other" ? "another" : "other";
}

describe("compare", () => {
  it("finds nothing between equals, however they are written", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const want = frame(value);
        const reordered = `{ "result" : ${JSON.stringify(value, null, 1)},\n"id":1.0, "jsonrpc":"\\u0032.0"}`;
        expect(compare("c", [want], [reordered], [])).toEqual([]);
      }),
    );
  });

  it("finds exactly the place of one edit, wherever it is", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(), (value, pick) => {
        const want = frame([value]);
        const root = JSON.parse(want) as Json;
        const edits = editsOf(root, "", (live) => live);
        const edit = edits[pick % edits.length] as Edit;
        edit.apply(root);
        expect(places([want], [JSON.stringify(root)])).toEqual([[1, edit.pointer, edit.kind]]);
      }),
      { numRuns: 300 },
    );
  });

  it('tells null from absent, 1 from "1", and numbers digit by digit', () => {
    expect(places([frame({})], [frame({ a: null })])).toEqual([[1, "/result/a", "this member is unexpected"]]);
    expect(places([frame({ a: null })], [frame({})])).toEqual([[1, "/result/a", "this member is missing"]]);
    expect(places([frame(0, 1)], [frame(0, "1")])).toEqual([[1, "/id", ""]]);
    expect(places(['{"id":1,"result":9007199254740993}'], ['{"id":1,"result":9007199254740992}'])).toEqual([
      [1, "/result", ""],
    ]);
  });

  it("masks what is volatile on both sides, so that it may change and not be absent", () => {
    const volatile = ["/result/items/*/at", "/result/at"];
    const want = frame({
      at: "<volatile>",
      items: [
        { at: 1, n: 1 },
        { at: 2, n: 2 },
      ],
    });
    expect(
      places(
        [want],
        [
          frame({
            at: {},
            items: [
              { at: null, n: 1 },
              { at: "x", n: 2 },
            ],
          }),
        ],
        volatile,
      ),
    ).toEqual([]);
    expect(places([want], [frame({ items: [{ at: 1, n: 1 }, { n: 2 }] })], volatile)).toEqual([
      [1, "/result/at", "this member is missing"],
      [1, "/result/items/1/at", "this member is missing"],
    ]);
    expect(places([frame({ n: 1 })], [frame({ n: 1 })], ["/nothing/here"])).toEqual([]);
  });

  it("names the frame that never came, and the one too many, without blaming those after it", () => {
    const want = [frame(1, 1), frame(2, 2), frame(3, 3)];
    expect(places(want, [frame(1, 1), frame(3, 3)])).toEqual([
      [0, "", "the recording has 3 frames, the adapter wrote 2"],
      [2, "", "this frame never came"],
    ]);
    expect(places(want, [frame(1, 1), frame(9, 1), frame(2, 2), frame(3, 3)])).toEqual([
      [0, "", "the recording has 3 frames, the adapter wrote 4"],
      [2, "", "this frame is not in the recording"],
    ]);
    expect(places([], [frame(1)])).toHaveLength(2);
  });

  it("compares answers by id and notifications method by method, where any order is right", () => {
    const note = (method: string, n: number) => JSON.stringify({ method, params: { n } });
    const want = [note("a", 1), frame(1, 1), note("b", 1), note("a", 2), frame(2, 2)];
    const got = [frame(2, 2), note("b", 1), note("a", 1), note("a", 2), frame(1, 1)];
    expect(compare("c", want, got, [], "any")).toEqual([]);
    expect(compare("c", want, [...got.slice(0, 3), note("a", 3), got[4] as string], [], "any")).toMatchObject([
      { response: 4, pointer: "/params/n", want: "2", got: "3" },
    ]);
    expect(compare("c", want, got.slice(1), [], "any").map(({ response }) => response)).toEqual([0, 5]);
    expect(compare("c", want, got, []).length).toBeGreaterThan(0);
  });

  it("says what was written and is no frame, and compares the rest as if it were not there", () => {
    const want = [frame(1, 1), frame(2, 2)];
    expect(compare("c", want, [frame(1, 1), "loading…", "42", frame(2, 2)], [])).toMatchObject([
      { response: 2, got: '"loading…"' },
      { response: 2, got: '"42"' },
    ]);
  });

  it("cuts long values around the place where they differ", () => {
    const [difference] = compare(
      "c",
      [frame(`${"a".repeat(9000)}X${"b".repeat(9000)}`)],
      [frame(`${"a".repeat(9000)}Y${"b".repeat(9000)}`)],
      [],
    );
    expect(difference?.want).toContain("aX");
    expect(difference?.got).toContain("aY");
    expect(difference?.want.length).toBeLessThan(200);
  });

  it("survives values nested without end", () => {
    const deep = (leaf: string) => `{"id":1,"result":${"[".repeat(3000)}${leaf}${"]".repeat(3000)}}`;
    expect(compare("c", [deep("1")], [deep("2")], [])).toHaveLength(1);
  });
});

describe("redact", () => {
  it("masks the values and leaves every other byte, and what does not parse", () => {
    expect(redact('{ "id":1, "result" : { "at":"2026", "n":1.50 } }', ["/result/at", "/none"])).toBe(
      `{ "id":1, "result" : { "at":"${VOLATILE_MASK}", "n":1.50 } }`,
    );
    expect(redact('{"at": oops', ["/at"])).toBe('{"at": oops');
    expect(redact('{"a":[{"b":1},{"b":{}}]}', ["/a/*/b", "/a/0/b", "/a"])).toBe(`{"a":"${VOLATILE_MASK}"}`);
  });

  it("changes nothing the second time, and a masked recording equals what it was made from", () => {
    const pointers = fc.array(fc.constantFrom("/result", "/result/*", "/result/*/*", "/result/a", "/id"), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(fc.jsonValue(), pointers, (value, volatile) => {
        const masked = redact(frame(value), volatile);
        expect(redact(masked, volatile)).toBe(masked);
        expect(compare("c", [masked], [frame(value)], volatile)).toEqual([]);
      }),
    );
  });
});
