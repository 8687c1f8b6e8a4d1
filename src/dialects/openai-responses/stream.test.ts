import { describe, expect, it } from "vitest";
import { pieces } from "../../chat/pieces.ts";
import type { ChatReply, FinishReason, Part } from "../../chat/reply.ts";
import { ApiError } from "../api-error.ts";
import type { EncodeContext } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { Traverser } from "../traverser.ts";
import { encodeResponsesStreamError } from "./errors.ts";
import { encodeResponse, type ResponseVariant } from "./response.ts";
import { openaiResponsesRules } from "./rules.ts";
import { encodeResponseStream } from "./stream.ts";

function context(variant: Partial<ResponseVariant> = {}): EncodeContext<ResponseVariant> {
  let ids = 0;
  return {
    variant: { encrypted: false, custom: "[]", background: false, ...variant },
    id: (prefix) => `${prefix}${ids++}`,
    created: 1_700_000_000,
    createdIso: "2023-11-14T22:13:20.000Z",
    model: "asked",
    echo: () => null as never,
    pieces: (whole) => pieces(whole, 4),
  };
}

const reply = (parts: Part[], reason: FinishReason = "stop"): ChatReply => ({
  choices: [{ parts, finish: { reason } }],
});
const opaque = (value: object): Part => ({ type: "opaque", dialect: "openai-responses", value });
const native = (value: object) => ({ dialect: "openai-responses", value });
const items = (parts: Part[], variant?: Partial<ResponseVariant>) =>
  encodeResponse(reply(parts), context(variant))["output"] as JsonObject[];
const events = (given: ChatReply, variant?: Partial<ResponseVariant>) =>
  encodeResponseStream(given, context(variant)).map(({ data }) => data as JsonObject);
/** Without the events that tell of the whole response. */
const inside = (parts: Part[]) =>
  events(reply(parts))
    .slice(2, -1)
    .map(({ type, sequence_number: _, output_index: _o, item_id: _i, ...rest }) => [
      (type as string).replace("response.", ""),
      rest,
    ]);

describe("items", () => {
  it("that a provider ran itself stay as they are, with text and calls beside them in order", () => {
    const search = {
      type: "file_search_call",
      id: "fs_1",
      status: "completed",
      queries: ["q"],
      results: [{ score: 1 }],
    };
    const novel = { type: "hologram_call", id: "ho_1", light: 3 };
    const parts: Part[] = [
      { type: "text", text: "a", native: native({ id: "msg_1", phase: "commentary" }) },
      opaque(search),
      { type: "toolCall", id: "call_1", name: "f", arguments: "{}" },
      opaque(novel),
      { type: "opaque", dialect: "anthropic", value: { type: "server_tool_use" } },
      { type: "text", text: "b", native: native({ id: "msg_2", phase: "final_answer" }) },
    ];
    expect(items(parts)).toEqual([
      expect.objectContaining({ type: "message", id: "msg_1", phase: "commentary" }),
      search,
      expect.objectContaining({ type: "function_call", call_id: "call_1" }),
      novel,
      expect.objectContaining({ type: "message", id: "msg_2", phase: "final_answer" }),
    ]);
  });

  it("hold texts and refusals of one message, each in its part, and no other provider's citations", () => {
    const citation = { type: "url_citation", url: "https://x" };
    expect(
      items([
        { type: "text", text: "a", annotations: native([citation]) },
        { type: "text", text: "b", annotations: { dialect: "anthropic", value: [{ type: "page_location" }] } },
        { type: "refusal", text: "c" },
      ]),
    ).toMatchObject([
      {
        type: "message",
        content: [
          { type: "output_text", text: "a", annotations: [citation] },
          { type: "output_text", text: "b", annotations: [] },
          { type: "refusal", refusal: "c" },
        ],
      },
    ]);
  });

  it("carry media: images as generated, sound in the message", () => {
    expect(
      items([
        { type: "media", mime: "image/png", data: "AAAA" },
        { type: "media", mime: "audio/wav", data: "BBBB", transcript: "hi" },
      ]),
    ).toMatchObject([
      { type: "image_generation_call", status: "completed", result: "AAAA" },
      { type: "message", content: [{ type: "output_audio", data: "BBBB", transcript: "hi" }] },
    ]);
  });

  it("show what another provider encrypted only where encrypted reasoning is asked for", () => {
    const redacted: Part = { type: "reasoning", text: "", redacted: "secret" };
    expect(items([redacted])).toEqual([]);
    expect(items([redacted], { encrypted: true })).toMatchObject([{ type: "reasoning", encrypted_content: "secret" }]);
  });
});

describe("a stream", () => {
  it("lets code grow, and tells the states of what runs", () => {
    const item = {
      type: "code_interpreter_call",
      id: "ci_1",
      status: "completed",
      code: "1 + 1",
      outputs: [{ logs: "2" }],
    };
    expect(inside([opaque(item)])).toEqual([
      ["output_item.added", { item: { ...item, status: "in_progress", code: "", outputs: [] } }],
      ["code_interpreter_call.in_progress", {}],
      ["code_interpreter_call_code.delta", { delta: "1 + " }],
      ["code_interpreter_call_code.delta", { delta: "1" }],
      ["code_interpreter_call_code.done", { code: "1 + 1" }],
      ["code_interpreter_call.interpreting", {}],
      ["code_interpreter_call.completed", {}],
      ["output_item.done", { item }],
    ]);
  });

  it("tells that a call of an MCP server failed", () => {
    const types = inside([opaque({ type: "mcp_call", id: "m", arguments: "{}", error: "no" })]).map(([type]) => type);
    expect(types.slice(-2)).toEqual(["mcp_call.failed", "output_item.done"]);
  });

  it("has the commands of a shell", () => {
    const item = { type: "shell_call", id: "sh", action: { commands: ["ls"] } };
    expect(inside([opaque(item)]).slice(1, -1)).toEqual([
      ["shell_call_command.added", { command_index: 0, command: "" }],
      ["shell_call_command.delta", { command_index: 0, delta: "ls" }],
      ["shell_call_command.done", { command_index: 0, command: "ls" }],
    ]);
  });

  it("has a token an event where their probabilities are known", () => {
    const content = ["He", "llo"].map((token) => ({ token, logprob: -1, bytes: [], top_logprobs: [] }));
    const deltas = inside([{ type: "text", text: "Hello", logprobs: { content } }]).filter(
      ([type]) => type === "output_text.delta",
    );
    expect(deltas.map(([, rest]) => rest)).toEqual([
      { content_index: 0, delta: "He", logprobs: [content[0]] },
      { content_index: 0, delta: "llo", logprobs: [content[1]] },
    ]);
  });

  it("raises the error that a response failed with, but for content filters", () => {
    const last = (reason: FinishReason) => events(reply([], reason)).slice(2);
    expect(last("error")).toMatchObject([
      { type: "error", error: { code: "server_error" } },
      { type: "response.failed", response: { status: "failed", error: { code: "server_error" } } },
    ]);
    expect(last("content_filter").map(({ type }) => type)).toEqual(["response.failed"]);
  });

  it("breaks off with an error of the provider's shape", () => {
    expect(encodeResponsesStreamError(new ApiError({ status: 500, message: "No luck." }))).toEqual({
      event: "error",
      data: {
        type: "error",
        sequence_number: 0,
        error: { type: "server_error", code: null, message: "No luck.", param: null },
      },
    });
  });
});

it("summaries are read as they come, with the time of each piece", () => {
  const reader = new Traverser(openaiResponsesRules, "openai-responses");
  const parts: Part[] = [{ type: "reasoning", text: "", summary: ["one by one", "two"] }];
  events(reply(parts)).forEach((event, index) => {
    reader.push(event, index);
  });
  reader.finish();
  const deltas = reader.frames.flatMap(({ atMs, event }) => (event.type === "delta" ? [{ ...event, atMs }] : []));
  expect(deltas.map(({ at, value }) => [at, value])).toEqual([
    [0, "one "],
    [0, "by o"],
    [0, "ne"],
    [1, "two"],
  ]);
  expect(deltas[0]!.atMs).toBeLessThan(deltas[3]!.atMs);
});
