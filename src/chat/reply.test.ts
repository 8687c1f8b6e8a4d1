import { describe, expect, test } from "vitest";
import { type ChatReply, finishOf, joinedText, type Part, partsOf, reasoningText } from "./reply.ts";

const said: Part = { type: "text", text: "Yes" };
const refused: Part = { type: "refusal", text: "No" };

test("an API with one choice shows the parts of the first, and of a reply without any none", () => {
  const reply: ChatReply = {
    choices: [
      { parts: [said], finish: { reason: "stop" } },
      { parts: [refused], finish: { reason: "stop" } },
    ],
  };
  expect(partsOf(reply)).toEqual([said]);
  expect(partsOf({ choices: [] })).toEqual([]);
});

describe("what was thought", () => {
  test("is the text, and the summary where there is none", () => {
    expect(reasoningText({ type: "reasoning", text: "so", summary: ["in short"] })).toBe("so");
    expect(reasoningText({ type: "reasoning", text: "", summary: ["one", "two"] })).toBe("one\n\ntwo");
  });

  test("is shown without a word where it is signed, and not at all where it is encrypted for somebody else", () => {
    expect(reasoningText({ type: "reasoning", text: "", signature: "s" })).toBe("");
    expect(reasoningText({ type: "reasoning", text: "", encrypted: "e" })).toBeUndefined();
    expect(reasoningText({ type: "reasoning", text: "", summary: [] })).toBeUndefined();
  });
});

test("texts of the kinds asked for are joined in their order; without one there is no text, not an empty one", () => {
  const parts: Part[] = [said, { type: "reasoning", text: "hm" }, refused, { type: "text", text: "!" }];
  expect(joinedText(parts, "text")).toBe("Yes!");
  expect(joinedText(parts, "text", "refusal")).toBe("YesNo!");
  expect(joinedText([said], "refusal")).toBeUndefined();
  expect(joinedText([{ type: "refusal", text: "" }], "refusal")).toBe("");
});

describe("how a choice ended", () => {
  test("is a refusal where it only stopped and one of its parts refuses", () => {
    const finish = { reason: "stop", native: { dialect: "some", value: "STOP" }, stopSequence: "x" };
    expect(finishOf({ parts: [said, refused], finish })).toEqual({ reason: "refusal" });
    expect(finishOf({ parts: [said], finish })).toBe(finish);
  });

  test("is what was said of it where that is more than that it stopped", () => {
    const finish = { reason: "length" };
    expect(finishOf({ parts: [refused], finish })).toBe(finish);
  });
});
