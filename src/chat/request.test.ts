import { describe, expect, test } from "vitest";
import { functionTool, modelMessage, type RequestToolCall } from "./request.ts";

interface Block {
  is: "call" | "thought" | "said";
  text: string;
}

const call = (name: string): RequestToolCall => ({ type: "function", function: { name, arguments: "{}" } });
const message = (blocks: Block[]) =>
  modelMessage(
    blocks,
    ({ is, text }, index) => (is === "call" ? call(`${text}${index}`) : is),
    (said) => said.map(({ text }) => text).join("+"),
    "thoughts",
  );

describe("the turn of a model", () => {
  test("is one message: what was said, the thoughts as they are, the calls in their order", () => {
    const thought: Block = { is: "thought", text: "hm" };
    expect(
      message([
        { is: "said", text: "a" },
        { is: "call", text: "f" },
        thought,
        { is: "said", text: "b" },
        { is: "call", text: "g" },
      ]),
    ).toEqual({ role: "assistant", content: "a+b", thoughts: [thought], tool_calls: [call("f1"), call("g4")] });
  });

  test("has no content where nothing was said, and no member for what is not there", () => {
    expect(message([{ is: "call", text: "f" }])).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [call("f0")],
    });
    expect(message([{ is: "said", text: "a" }])).toEqual({ role: "assistant", content: "a" });
  });
});

test("a function has a description only where that is a text, and keeps what else was said of it", () => {
  expect(functionTool("f", "what it does", { type: "object" }, { strict: true })).toEqual({
    strict: true,
    type: "function",
    function: { name: "f", description: "what it does", parameters: { type: "object" } },
  });
  expect(functionTool("f", null, undefined, {})).toEqual({
    type: "function",
    function: { name: "f", parameters: undefined },
  });
});
