import fc from "fast-check";
import { expect, test } from "vitest";
import { isBrokenDataUrl, notBase64At, notStrictBase64At } from "./base64.ts";

test("whatever is encoded is base64", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
      const text = Buffer.from(bytes).toString("base64");
      expect([notStrictBase64At(text), notBase64At(text)]).toEqual([-1, -1]);
      expect(notBase64At(Buffer.from(bytes).toString("base64url"))).toBe(-1);
    }),
  );
});

test.each([
  ["aGk!", 3, 3],
  ["a.GkhaG!", 1, 1],
  ["====", 0, -1],
  ["aGk", 0, -1],
  ["aGkhaG", 4, -1],
  ["aGk_", 3, -1],
  ["aGkh\naGk=", 4, -1],
  ["a=k=", 1, -1],
])("%j is none from %i on for those who are strict, from %i for all others", (text, strict, place) => {
  expect([notStrictBase64At(text), notBase64At(text)]).toEqual([strict, place]);
});

test.each([
  ["data:image/png;base64,abc", false],
  ["data:image/png;base64,", false],
  ["data:image/png;charset=utf-8;base64,a%b", true],
  ["data:text/plain,what?", false],
  ["https://x.example/;base64,?", false],
])("%s is broken: %j", (url, broken) => {
  expect(isBrokenDataUrl(url)).toBe(broken);
});

test("a long text is no burden", () => {
  const text = "A".repeat(40_000_000);
  expect([notStrictBase64At(text), notBase64At(text)]).toEqual([-1, -1]);
});
