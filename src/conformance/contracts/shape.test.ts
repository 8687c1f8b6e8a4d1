import fc from "fast-check";
import { expect, test } from "vitest";
import { formatPointer } from "../../wire/json-pointer.ts";
import { isDateTime, Placeholders } from "./placeholders.ts";
import { matching } from "./sample.ts";
import { compareShape, type ShapeRules } from "./shape.ts";
import { makeTemplate, render } from "./template.ts";

const placeholders = new Placeholders(new Map(), new Map());
const rules = (got: unknown, more: Partial<ShapeRules> = {}): ShapeRules => ({
  placeholders,
  bound: new Map(),
  schemaRules: false,
  extraMembers: [],
  text: JSON.stringify(got),
  ...more,
});
const pointers = (golden: unknown, got: unknown, more?: Partial<ShapeRules>) =>
  compareShape(golden, got, rules(got, more)).differences.map(({ pointer }) => pointer);

// Members of one object, with names that need escapes among them; arrays have elements of one shape.
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.boolean(),
    fc.integer(),
    fc.constantFrom("", "word", "a/b"),
    tie("object"),
    tie("array"),
  ),
  object: fc.dictionary(
    fc.oneof(fc.constantFrom("a/b", "~", "", "id", "toString"), fc.string({ maxLength: 4 })),
    tie("value"),
    { maxKeys: 4, noNullPrototype: true },
  ),
  array: tie("value").map((element) => [element, structuredClone(element)]),
}));

interface Place {
  segments: string[];
  holder: Record<string, unknown>;
  key: string;
}

/** Every member of an object in the value. */
function membersOf(at: unknown, segments: string[] = []): Place[] {
  if (typeof at !== "object" || at === null) return [];
  return Object.entries(at).flatMap(([key, member]) => [
    ...(Array.isArray(at) ? [] : [{ segments: [...segments, key], holder: at as Record<string, unknown>, key }]),
    ...membersOf(member, [...segments, key]),
  ]);
}

test("a value has its own shape, and other values of the same kinds have it too", () => {
  fc.assert(
    fc.property(value, (golden) => {
      expect(pointers(golden, golden)).toEqual([]);
      const other = JSON.parse(
        JSON.stringify(golden, (_, at) => (typeof at === "number" ? at + 1 : typeof at === "string" ? `${at}x` : at)),
      );
      expect(pointers(golden, other)).toEqual([]);
    }),
  );
});

test("a member that is taken away, put in or of another kind is reported at its place, and nothing else is", () => {
  fc.assert(
    fc.property(value, fc.nat(), fc.constantFrom("remove", "add", "retype"), (golden, pick, change) => {
      const got = structuredClone(golden);
      const members = membersOf(got);
      fc.pre(members.length > 0);
      const { segments, holder, key } = members[pick % members.length] as Place;
      if (change === "remove") delete holder[key];
      else if (change === "retype") holder[key] = typeof holder[key] === "string" ? 1 : "other";
      else {
        holder["«new»"] = 1;
        segments[segments.length - 1] = "«new»";
      }
      expect(pointers(golden, got)).toEqual([formatPointer(segments)]);
    }),
  );
});

test("null is right where a schema has ruled, and said where none has", () => {
  expect(compareShape({ a: 1 }, { a: null }, rules({}, { schemaRules: true }))).toEqual({ differences: [], notes: [] });
  expect(compareShape({ a: 1 }, { a: null }, rules({})).notes).toEqual([
    "/a: null came where the golden has a value; accepted, since no schema says whether null is right",
  ]);
  expect(compareShape({ a: null }, { a: 1 }, rules({})).notes).toHaveLength(1);
});

test("an empty array leaves its elements unchecked, and says so", () => {
  expect(compareShape([{ a: 1 }], [], rules([]))).toEqual({
    differences: [],
    notes: [": an empty array came, so its elements are unchecked"],
  });
  expect(compareShape([], [1], rules([1])).notes).toEqual([
    ": the golden's array is empty, so its elements are unchecked",
  ]);
});

test("a list may hold others beside the bound one, which has to be in it", () => {
  const bound = new Map([["$id", '"b"']]);
  const golden = [{ id: "$id" }];
  expect(pointers(golden, [{ id: "a" }, { id: "b" }], { bound })).toEqual([]);
  expect(pointers(golden, [{ id: "a" }], { bound })).toEqual([""]);
  expect(pointers(golden, [{ id: "b" }, { id: 7 }], { bound })).toEqual(["/1/id"]);
});

test("members whose names are placeholders are any number of such, of one shape", () => {
  const bound = new Map([["$id", '"b"']]);
  const uuid = "00000000-0000-4000-8000-000000000000";
  const golden = { most: 3, $uuid: { a: 1 } };
  expect(pointers(golden, { most: 1, [uuid]: { a: 2 } })).toEqual([]);
  expect(pointers(golden, { most: 1, [uuid]: { a: "2" }, other: { a: 2 } })).toEqual([`/${uuid}/a`, "/other"]);
  expect(pointers(golden, { [uuid]: { a: 2 } })).toEqual(["/most"]);
  expect(compareShape(golden, { most: 1 }, rules({})).notes).toEqual([
    ": no member $uuid came, so its value is unchecked",
  ]);
  expect(pointers({ $id: { id: "$id" } }, { a: { id: "a" }, b: { id: "b" } }, { bound })).toEqual([]);
  expect(pointers({ $id: { id: "$id" } }, { a: { id: "a" } }, { bound })).toEqual([""]);
  expect(pointers({ $$uuid: 1 }, { $uuid: 2 })).toEqual([]);
  expect(pointers({ $ref: 1 }, { $ref: 2 })).toEqual([]);
  expect(pointers({ $ref: 1 }, {})).toEqual(["/$ref"]);
});

test("bound numbers are compared digit for digit", () => {
  const bound = new Map([["$id", "9007199254740993"]]);
  const compare = (text: string) =>
    compareShape({ id: "$id" }, JSON.parse(text), rules({}, { bound, text })).differences.length;
  expect(compare('{"id":9007199254740993}')).toBe(0);
  expect(compare('{"id":9007199254740992}')).toBe(1);
});

test("objects that the suite opens may have further members", () => {
  expect(pointers({ result: [{ a: 1 }] }, { result: [{ a: 1, b: 2 }] }, { extraMembers: [["result", "*"]] })).toEqual(
    [],
  );
  expect(pointers({ result: [{ a: 1 }] }, { result: [{ a: 1 }], b: 2 }, { extraMembers: [["result", "*"]] })).toEqual([
    "/b",
  ]);
});

test.each([
  ["2026-02-28T23:59:60Z", true],
  ["2024-02-29t00:00:00.5+01:30", true],
  ["2026-02-29T00:00:00Z", false],
  ["2026-01-01T00:00:00", false],
  ["2026-01-01T24:00:00Z", false],
  ["2026-13-01T00:00:00Z", false],
  ["2026-01-01T00:00:00+24:00", false],
])("%s as a date and time: %s", (text, right) => expect(isDateTime(text)).toBe(right));

test("a template leaves everything but its placeholders as it was written", () => {
  const template = makeTemplate('{ "n": 9007199254740993, "f": 1.0, "a": "$id", "b": ["$$id", "\\u0041"] }');
  expect(render(template, ({ name, pointer }) => JSON.stringify(`${name} ${pointer}`))).toBe(
    '{"n":9007199254740993,"f":1.0,"a":"$id /a","b":["$id","\\u0041"]}',
  );
  const named = makeTemplate('{"$id": {"$$a": 1}, "\\u0024b": "$b"}');
  expect(render(named, ({ name, pointer }) => (name === "$id" ? "7" : JSON.stringify(pointer)))).toBe(
    '{"7":{"$a":1},"\\u0024b":"/$b"}',
  );
});

test.each(["^[0-9a-f]{40}$", "^(cat|dog)-\\d{2,3}$", "^[A-Z]\\w*\\.(iso|img)?$", "^x+y{2,}$"])(
  "a text is made that %s matches",
  (pattern) => expect(matching(pattern, Math.random)).toMatch(new RegExp(pattern)),
);

test("a pattern beyond what is made gives nothing, rather than a wrong text", () => {
  expect(matching("^(?=a)b$", Math.random)).toBeUndefined();
  expect(matching("^[^a]$", Math.random)).toBeUndefined();
  expect(matching("(", Math.random)).toBeUndefined();
  expect(matching("^(a{9999}){9999}$", Math.random)).toBeUndefined();
  expect(matching("(){999999999}", Math.random)).toBeUndefined();
});
