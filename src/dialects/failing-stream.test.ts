import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ChatReply, Part } from "../chat/reply.ts";
import { anthropic } from "./anthropic/index.ts";
import { ApiError } from "./api-error.ts";
import { callOf } from "./call.ts";
import { renderStream } from "./encode.ts";
import { renderFailing } from "./failing-stream.ts";
import { gemini } from "./gemini/index.ts";
import { openaiChat } from "./openai-chat/index.ts";
import { openaiResponses } from "./openai-responses/index.ts";
import type { Call, Memory, Operation } from "./operation.ts";
import { RawRequest } from "./raw-request.ts";
import { Traverser } from "./traverser.ts";

const memory: Memory = { get: () => undefined, set: () => {}, delete: () => false };
const stamp = { id: "0123456789abcdefghij", created: 1_700_000_000 };
const error = new ApiError({ status: 503, message: "Overloaded." });

function call({ operations }: { operations: Operation[] }, body: object, path = "/", params = {}): Call {
  const raw = new RawRequest("POST", path, {}, Buffer.from(JSON.stringify(body)));
  raw.params = params;
  return callOf(operations[0]!, raw, memory);
}

const messages = [{ role: "user", content: "hi" }];
const calls: [string, Call][] = [
  ["OpenAI chat", call(openaiChat, { model: "m", messages, stream: true })],
  ["OpenAI Responses", call(openaiResponses, { model: "m", input: "hi", stream: true })],
  ["Anthropic", call(anthropic, { model: "m", max_tokens: 9, messages, stream: true })],
  [
    "Gemini",
    call(
      gemini,
      { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
      "/v1beta/models/m:streamGenerateContent?alt=sse",
      { model: "m" },
    ),
  ],
];

const parts = fc.array(
  fc.oneof(
    fc.string({ minLength: 1, maxLength: 60 }).map((text): Part => ({ type: "text", text })),
    fc.stringMatching(/^[a-z]{1,9}$/).map((name): Part => ({ type: "toolCall", id: name, name, arguments: "{}" })),
  ),
  { maxLength: 5 },
);

const said = (reply: ChatReply) => ({
  text: (reply.choices[0]?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join(""),
  calls: (reply.choices[0]?.parts ?? []).flatMap((part) => (part.type === "toolCall" ? [part.name] : [])),
});

describe.each(calls)("a stream of %s that fails", (_, asked) => {
  const { operation } = asked;
  const read = (chunks: string[]) => {
    const reader = new Traverser(operation.rules!, operation.dialect);
    for (const chunk of chunks) {
      for (const [, data] of chunk.matchAll(/^data: (.*)$/gm)) if (data !== "[DONE]") reader.push(JSON.parse(data!), 0);
    }
    return reader.finish();
  };

  test("has said all of the reply, and does not end it", () => {
    fc.assert(
      fc.property(parts, fc.constantFrom("stop", "length", "tool_calls"), (list, reason) => {
        const reply: ChatReply = { choices: [{ parts: list, finish: { reason } }] };
        const failing = renderFailing(reply, error, asked, stamp, "req_1");
        const whole = renderStream(reply, asked, stamp);
        expect(failing.at(-1)).toContain("Overloaded.");
        expect(said(read(failing.slice(0, -1)))).toEqual(said(read(whole)));
        expect(failing.join("")).not.toMatch(
          /\[DONE\]|"finish_reason":"|"stop_reason":"|"finishReason"|response\.(completed|incomplete)/,
        );
      }),
    );
  });
});

test("a provider without an event for it says what it says", () => {
  const [, asked] = calls[0]!;
  const { encodeStreamError: _, ...operation } = asked.operation;
  const reply: ChatReply = { choices: [{ parts: [{ type: "text", text: "Hi" }], finish: { reason: "stop" } }] };
  const chunks = renderFailing(reply, error, { ...asked, operation }, stamp, "req_1");
  expect(chunks).toHaveLength(2);
  expect(chunks[1]).toContain('"content":"Hi"');
});

test("the error of Responses has its number in the sequence", () => {
  const [, asked] = calls[1]!;
  const chunks = renderFailing({ choices: [] }, error, asked, stamp, "req_1");
  expect(chunks.at(-1)).toContain(`"sequence_number":${chunks.length - 1}`);
});
