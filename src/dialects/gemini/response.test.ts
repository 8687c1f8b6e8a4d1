import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { GoogleGenAI } from "@google/genai";
import { describe, expect, it } from "vitest";
import { pieces } from "../../chat/pieces.ts";
import type { ChatReply, FinishReason, Part } from "../../chat/reply.ts";
import { ApiError } from "../api-error.ts";
import { GEMINI } from "../gemini-parts/response.ts";
import { encodeGoogleStreamError } from "../google/errors.ts";
import type { EncodeContext } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { Traverser } from "../traverser.ts";
import { encodeGenerateResponse, type GeminiVariant } from "./response.ts";
import { geminiRules } from "./rules.ts";
import { encodeGenerateStream } from "./stream.ts";

const context: EncodeContext<GeminiVariant> = {
  variant: { candidates: 1, partialArgs: false },
  id: (prefix) => `${prefix}made`,
  created: 0,
  createdIso: "1970-01-01T00:00:00.000Z",
  model: "asked",
  echo: () => 7 as never,
  pieces: (text) => pieces(text, 4),
};

function replyOf(parts: Part[], more: Partial<ChatReply> = {}): ChatReply {
  return { choices: [{ parts, finish: { reason: "stop" } }], ...more };
}

function partsOf(parts: Part[]): unknown {
  const [candidate] = encodeGenerateResponse(replyOf(parts), context)["candidates"] as { content: JsonObject }[];
  return candidate?.content["parts"];
}

function readAgain(...messages: unknown[]): ChatReply {
  const reader = new Traverser(geminiRules, GEMINI);
  for (const message of messages) reader.push(message, 0);
  return reader.finish();
}

describe("parts", () => {
  it("media stand inline, or where they are", () => {
    expect(
      partsOf([
        { type: "media", mime: "image/png", data: "aGk=", native: { dialect: GEMINI, value: { thought: true } } },
        { type: "media", mime: "video/mp4", url: "gs://x" },
      ]),
    ).toEqual([
      { inlineData: { mimeType: "image/png", data: "aGk=" }, thought: true },
      { fileData: { mimeType: "video/mp4", fileUri: "gs://x" } },
    ]);
  });

  it("of other dialects stay there, with what they alone know", () => {
    expect(
      partsOf([
        { type: "opaque", dialect: "anthropic", value: { type: "server_tool_use" } },
        { type: "opaque", dialect: GEMINI, value: { codeExecutionResult: { outcome: "OUTCOME_OK" } } },
        { type: "text", text: "x", annotations: { dialect: "anthropic", value: [] } },
        { type: "reasoning", text: "", encrypted: "secret" },
        { type: "reasoning", text: "", summary: ["one", "two"] },
      ]),
    ).toEqual([
      { codeExecutionResult: { outcome: "OUTCOME_OK" } },
      { text: "x" },
      { text: "one\n\ntwo", thought: true },
    ]);
  });

  it("arguments that are broken JSON are given as text", () => {
    expect(partsOf([{ type: "toolCall", name: "f", arguments: '{"a":' }])).toEqual([
      { functionCall: { name: "f", args: '{"a":' } },
    ]);
  });

  it("signatures of streamed texts come at their end, those of calls with the call", () => {
    const reply = replyOf([
      { type: "text", text: "a text", signature: "s1" },
      { type: "toolCall", name: "f", arguments: "{}", signature: "s2" },
    ]);
    const chunks = encodeGenerateStream(reply, context).map(
      ({ data }) => data as { candidates: { content: JsonObject }[] },
    );
    expect(chunks.map(({ candidates }) => (candidates[0]!.content["parts"] as unknown[])[0])).toEqual([
      { text: "a te" },
      { text: "xt" },
      { text: "", thoughtSignature: "s1" },
      { functionCall: { name: "f", args: {} }, thoughtSignature: "s2" },
    ]);
  });
});

describe("finish reasons", () => {
  it.each<[FinishReason, string]>([
    ["stop", "STOP"],
    ["pause", "STOP"],
    ["length", "MAX_TOKENS"],
    ["tool_calls", "FUNCTION_CALL"],
    ["content_filter", "SAFETY"],
    ["refusal", "SAFETY"],
    ["error", "OTHER"],
    ["LANGUAGE", "LANGUAGE"],
  ])("%s is %s", (reason, word) => {
    const encoded = encodeGenerateResponse({ choices: [{ parts: [], finish: { reason } }] }, context);
    expect(encoded["candidates"]).toMatchObject([{ finishReason: word }]);
  });

  it("are the recorded ones again, and tool calls their own reason to the others", () => {
    const body = {
      candidates: [
        { content: { parts: [{ functionCall: { name: "f" } }], role: "model" }, finishReason: "STOP", index: 0 },
      ],
      usageMetadata: { promptTokenCount: 1 },
    };
    const reply = readAgain(body);
    expect(reply.choices[0]?.finish).toEqual({ reason: "tool_calls", native: { dialect: GEMINI, value: "STOP" } });
    expect(reply.choices[0]?.parts).toEqual([{ type: "toolCall", name: "f", arguments: "{}" }]);
    expect(encodeGenerateResponse(reply, context)["candidates"]).toMatchObject([{ finishReason: "STOP" }]);
  });
});

describe("recordings", () => {
  it("of a blocked prompt have no candidates again", () => {
    const body = {
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
      modelVersion: "m",
      responseId: "r",
    };
    const reply = readAgain(body);
    expect(reply.choices).toMatchObject([{ parts: [], finish: { reason: "content_filter" } }]);
    expect(encodeGenerateResponse(reply, context)).toEqual(body);
    expect(encodeGenerateStream(reply, context)).toEqual([{ data: body }]);
  });

  it("keep what the candidate's end tells of grounding, citations, ratings and probabilities", () => {
    const end = {
      groundingMetadata: { webSearchQueries: ["q"] },
      citationMetadata: { citations: [] },
      safetyRatings: [],
      avgLogprobs: -0.5,
    };
    const chunk = (text: string, more: object = {}) => ({
      candidates: [{ content: { parts: [{ text }], role: "model" }, index: 0, ...more }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: text.length },
    });
    const reply = readAgain(chunk("one "), chunk("two", { finishReason: "STOP", ...end }));
    const encoded = encodeGenerateResponse(reply, context);
    expect(encoded["candidates"]).toEqual([
      { content: { parts: [{ text: "one two" }], role: "model" }, finishReason: "STOP", index: 0, ...end },
    ]);
    expect(encoded["usageMetadata"]).toEqual({ promptTokenCount: 1, candidatesTokenCount: 3 });
  });

  it("of errors say so", () => {
    const reader = new Traverser(geminiRules, GEMINI);
    reader.push({ error: { code: 503, message: "Overloaded.", status: "UNAVAILABLE" } }, 0);
    expect(reader.frames.map(({ event }) => event)).toEqual([
      {
        type: "error",
        message: "Overloaded.",
        native: { dialect: GEMINI, value: { code: 503, message: "Overloaded.", status: "UNAVAILABLE" } },
      },
    ]);
  });
});

it("an error in mid-stream is raised by the official client", async () => {
  const failure = encodeGoogleStreamError(new ApiError({ status: 503, message: "Overloaded." }));
  const events = [...encodeGenerateStream(replyOf([{ type: "text", text: "abc" }]), context), failure];
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    const [first, second] = events.map(({ data }) => `data: ${JSON.stringify(data)}\n\n`);
    // The client looks for errors in what it gets at once, before it gives away anything of it.
    response.write(first, () => setImmediate(() => response.end(second)));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const client = new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: `http://127.0.0.1:${port}` } });
  const reading = async (): Promise<void> => {
    for await (const chunk of await client.models.generateContentStream({ model: "m", contents: "x" })) {
      expect(chunk.text).toBe("abc");
    }
  };
  await expect(reading()).rejects.toThrow(/UNAVAILABLE/);
  await new Promise((done) => server.close(done));
});
