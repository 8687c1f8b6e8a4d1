import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pieces } from "../chat/pieces.ts";
import { assignedJson, assignmentsOf } from "./partial-args.ts";

const cut = (text: string): string[] => pieces(text, 3);

describe("partial arguments", () => {
  it("put values at their places, and join the pieces of a text", () => {
    expect(
      assignedJson([
        { jsonPath: "$.dish.name", stringValue: "Las", willContinue: true },
        { jsonPath: "$.dish.name", stringValue: "agne", willContinue: true },
        { jsonPath: "$.dish.name", stringValue: "" },
        { jsonPath: "$.dish.steps[0]", stringValue: "" },
        { jsonPath: "$.dish.steps[1]['two words']", numberValue: 2.5 },
        { jsonPath: "$.hot", boolValue: false },
        { jsonPath: "$.wine", nullValue: "NULL_VALUE" },
      ]),
    ).toBe('{"dish":{"name":"Lasagne","steps":["",{"two words":2.5}]},"hot":false,"wine":null}');
  });

  it("take the place of a text that was complete", () => {
    const twice = ["a", "b"].map((stringValue) => ({ jsonPath: "$.x", stringValue }));
    expect(assignedJson(twice)).toBe('{"x":"b"}');
  });

  it.each([
    null,
    3,
    {},
    { jsonPath: 1 },
    { jsonPath: "x", stringValue: "" },
    { jsonPath: "$", stringValue: "" },
    { jsonPath: "$[0]", stringValue: "" },
    { jsonPath: "$.a[", stringValue: "" },
    { jsonPath: "$.a[999999999]", stringValue: "" },
    { jsonPath: "$.a" },
  ])("pass over %j", (assignment) => {
    expect(assignedJson([assignment])).toBe("");
  });

  it("touch no prototype", () => {
    expect(assignedJson([{ jsonPath: "$.__proto__.polluted", boolValue: true }])).toBe(
      '{"__proto__":{"polluted":true}}',
    );
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it.each([{}, { a: [] }, { a: { b: {} } }, { "two words": 1 }, [], "text", null])("cannot say %j", (args) => {
    expect(assignmentsOf(args, cut)).toBeUndefined();
  });

  it("build the object that they were made from", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[\w-]{1,8}$/), fc.jsonValue(), { minKeys: 1 }), (given) => {
        const args: unknown = JSON.parse(JSON.stringify(given));
        const assignments = assignmentsOf(args, cut);
        if (assignments !== undefined) expect(JSON.parse(assignedJson(assignments))).toEqual(args);
      }),
    );
  });

  it("never throw", () => {
    const path = fc.oneof(fc.string(), fc.stringMatching(/^\$(\.[ab]|\[\d\]|\['[ab]'\]){1,4}$/));
    const assignment = fc.record({ jsonPath: path, stringValue: fc.string(), willContinue: fc.boolean() });
    fc.assert(
      fc.property(fc.array(fc.oneof(assignment, fc.jsonValue())), (assignments) => {
        const json = assignedJson(assignments);
        if (json !== "") expect(JSON.parse(json)).toBeTypeOf("object");
      }),
    );
  });
});
