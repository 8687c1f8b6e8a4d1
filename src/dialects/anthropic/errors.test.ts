import Anthropic from "@anthropic-ai/sdk";
import { expect, it } from "vitest";
import { ApiError } from "../api-error.ts";
import { frame } from "../encode.ts";
import { encodeAnthropicError, encodeAnthropicStreamError } from "./errors.ts";

it.each([
  [400, "invalid_request_error"],
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [408, "timeout_error"],
  [409, "conflict_error"],
  [413, "request_too_large"],
  [418, "invalid_request_error"],
  [429, "rate_limit_error"],
  [500, "api_error"],
  [503, "api_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
])("a %i is an %s", (status, type) => {
  const reply = encodeAnthropicError(new ApiError({ status, message: "No." }), "req_1");
  expect(reply).toEqual({
    status,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ type: "error", error: { type, message: "No." }, request_id: "req_1" }),
  });
});

it("sends the type, the code and further members that were written, and when to try again", () => {
  const error = new ApiError({
    status: 429,
    message: "Slow down.",
    type: "my_error",
    code: "spend_limit",
    param: "model",
    retryAfter: 3,
    extra: { hint: "later" },
  });
  const { headers, body } = encodeAnthropicError(error);
  expect(headers["retry-after"]).toBe("3");
  expect(JSON.parse(String(body))).toEqual({
    type: "error",
    error: { type: "my_error", message: "Slow down.", details: { error_code: "spend_limit" }, hint: "later" },
    request_id: null,
  });
});

it("is an event of its own in the middle of a stream, which the official client raises", async () => {
  const event = encodeAnthropicStreamError(new ApiError({ status: 529, message: "Overloaded" }), "req_1");
  expect(event.data).toEqual({
    type: "error",
    error: { type: "overloaded_error", message: "Overloaded" },
    request_id: "req_1",
  });
  const headers = { "content-type": "text/event-stream" };
  const client = new Anthropic({ apiKey: "x", fetch: async () => new Response(frame(event, "sse"), { headers }) });
  const stream = client.messages.stream({ model: "m", max_tokens: 1, messages: [{ role: "user", content: "hi" }] });
  await expect(stream.done()).rejects.toMatchObject({ type: "overloaded_error", apiMessage: "Overloaded" });
});
