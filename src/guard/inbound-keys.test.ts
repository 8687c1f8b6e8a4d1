import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RawRequest } from "../dialects/raw-request.ts";
import { InboundKeys } from "./inbound-keys.ts";

const keys = new InboundKeys(["right", "other"]);
const refusal = (headers: Record<string, string>, url = "/v1/chat/completions") =>
  keys.refusal(new RawRequest("POST", url, headers, new Uint8Array(0)));

const forms: [string, (key: string) => [Record<string, string>, string?]][] = [
  ["authorization: Bearer", (key) => [{ authorization: `Bearer ${key}` }]],
  ["authorization: Key", (key) => [{ authorization: `Key ${key}` }]],
  ["authorization: bearer", (key) => [{ authorization: `bearer  ${key} ` }]],
  ["x-api-key", (key) => [{ "x-api-key": key }]],
  ["x-goog-api-key", (key) => [{ "x-goog-api-key": key }]],
  ["api-key", (key) => [{ "api-key": key }]],
  ["xi-api-key", (key) => [{ "xi-api-key": key }]],
  ["?key=", (key) => [{}, `/v1beta/models/gemini:generateContent?alt=sse&key=${key}`]],
  [
    "an AWS signature",
    (key) => [
      {
        authorization: `AWS4-HMAC-SHA256 Credential=${key}/20260101/us-east-1/bedrock/aws4_request, SignedHeaders=host`,
      },
    ],
  ],
];

describe.each(forms)("a key in %s", (_, form) => {
  it("is let in when it is known", () => {
    expect(refusal(...form("right"))).toBeUndefined();
    expect(refusal(...form("other"))).toBeUndefined();
  });

  it("is refused with 401 when it is not, without being shown", () => {
    const error = refusal(...form("wrong-one"))!;
    expect(error.status).toBe(401);
    expect(error.code).toBe("invalid_api_key");
    expect(error.message).not.toContain("wrong-one");
  });
});

it("refuses a request without a key, or with one of an unknown form", () => {
  expect(refusal({})?.message).toContain("No API key was sent");
  expect(refusal({ authorization: "Basic cmlnaHQ=" })?.status).toBe(401);
  expect(refusal({ authorization: "right" })?.status).toBe(401);
  expect(refusal({ "x-api-key": "" })?.status).toBe(401);
});

it("lets in only who sends known keys everywhere", () => {
  const place = fc.constantFrom("authorization", "x-api-key", "x-goog-api-key", "api-key", "xi-api-key");
  const key = fc.constantFrom("right", "other", "wrong", "Right", "right2", "");
  fc.assert(
    fc.property(fc.dictionary(place, key), (sent) => {
      const headers = Object.fromEntries(
        Object.entries(sent).map(([name, value]) => [name, name === "authorization" ? `Bearer ${value}` : value]),
      );
      const values = Object.values(sent);
      const known = values.length > 0 && values.every((value) => value === "right" || value === "other");
      expect(refusal(headers) === undefined).toBe(known);
    }),
  );
});

it("needs keys to know", () => {
  expect(() => new InboundKeys([])).toThrow(RangeError);
  expect(() => new InboundKeys(["a", " "])).toThrow("none of them empty");
});
