import { describe, expect, it } from "vitest";
import { ApiError } from "../api-error.ts";
import { checkChoices, checkObject, checkString, checkType } from "./check.ts";

/** What a check says of a body: its message, parameter and code; undefined where it takes it. */
function refusal(check: () => unknown): [string, unknown, unknown] | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.status).toBe(400);
    return [error.message, error.param, error.code];
  }
}

describe("a member that is to be a text", () => {
  it("may be missing or null only where it is not required", () => {
    expect(refusal(() => checkString({ name: "f" }, "name", true))).toBeUndefined();
    expect(refusal(() => checkString({}, "name", false))).toBeUndefined();
    expect(refusal(() => checkString({ name: null }, "name", false))).toBeUndefined();
    expect(refusal(() => checkString({}, "name", true, "tools[0].function."))).toEqual([
      "Missing required parameter: 'tools[0].function.name'.",
      "tools[0].function.name",
      "missing_required_parameter",
    ]);
    expect(refusal(() => checkString({ name: null }, "name", true))?.[0]).toBe(
      "Invalid type for 'name': expected a string, but got null instead.",
    );
  });

  it("is nothing else", () => {
    expect(refusal(() => checkString({ name: 1 }, "name", false))).toEqual([
      "Invalid type for 'name': expected a string, but got a number instead.",
      "name",
      "invalid_type",
    ]);
  });
});

describe("a member that may be missing", () => {
  it.each([
    ["number", "3", "expected a number, but got a string instead"],
    ["boolean", 0, "expected a boolean, but got a number instead"],
    ["object", [], "expected an object, but got an array instead"],
  ] as const)("is a %s where it is there", (kind, value, message) => {
    expect(refusal(() => checkType({ x: value }, "x", kind))?.[0]).toBe(`Invalid type for 'x': ${message}.`);
    expect(refusal(() => checkType({ x: null }, "x", kind))).toBeUndefined();
    expect(refusal(() => checkType({}, "x", kind))).toBeUndefined();
  });
});

it("tells an object that is missing from something that is none", () => {
  const given = {};
  expect(checkObject(given, "x")).toBe(given);
  expect(refusal(() => checkObject(undefined, "x"))?.[2]).toBe("missing_required_parameter");
  expect(refusal(() => checkObject([], "x"))?.[2]).toBe("invalid_type");
});

it("takes from 1 to 128 choices, and 1 where none are named", () => {
  expect(checkChoices({})).toBe(1);
  expect(checkChoices({ n: null })).toBe(1);
  expect(checkChoices({ n: 128 })).toBe(128);
  expect(refusal(() => checkChoices({ n: "2" }))?.[2]).toBe("invalid_type");
  for (const n of [0, 129, 1.5]) {
    expect(refusal(() => checkChoices({ n }))).toEqual([
      `Invalid value for 'n': expected an integer from 1 to 128, but got ${n}.`,
      "n",
      "integer_out_of_range",
    ]);
  }
});
