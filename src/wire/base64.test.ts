import fc from "fast-check";
import { expect, test } from "vitest";
import { isBase64OfAnyKind, notBase64At } from "./base64.ts";

test("whatever is encoded is base64", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
      expect(notBase64At(Buffer.from(bytes).toString("base64"))).toBe(-1);
    }),
  );
});

test.each([
  ["aGk!", 3],
  ["====", 0],
  ["aGk", 0],
  ["aGkhaG", 4],
  ["aGk_", 3],
  ["a=k=", 1],
])("%j is none from %i on", (text, place) => {
  expect(notBase64At(text)).toBe(place);
});

test("a long text is no burden", () => {
  expect(notBase64At("A".repeat(40_000_000))).toBe(-1);
});

test.each(["", "aGk", "aGk=", "aGkhaG==", "a-_k", "a+/k"])("%j is base64 of some kind", (text) => {
  expect(isBase64OfAnyKind(text)).toBe(true);
});

test.each(["aGk!", "a=k", "aGk===", "aG k", "aGk\n"])("%j is base64 of no kind", (text) => {
  expect(isBase64OfAnyKind(text)).toBe(false);
});
