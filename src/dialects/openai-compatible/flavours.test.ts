import { expect, test } from "vitest";
import { Traverser } from "../traverser.ts";
import { COMPATIBLE_PROVIDERS } from "./flavours.ts";

const xai = COMPATIBLE_PROVIDERS.find(({ dialect }) => dialect === "xai")!;

test("xAI counts thoughts beside the completion, where the canonical count has both", () => {
  const usage = {
    prompt_tokens: 307,
    completion_tokens: 26,
    total_tokens: 560,
    completion_tokens_details: { reasoning_tokens: 227 },
  };
  const reader = new Traverser(xai.rules!, "xai");
  reader.push({ choices: [{ index: 0, message: { content: "Yes." }, finish_reason: "stop" }], usage }, 0);
  expect(reader.finish().usage).toMatchObject({ promptTokens: 307, completionTokens: 253, reasoningTokens: 227 });
  expect(xai.usage!({ ...usage, completion_tokens: 253 }, undefined)).toEqual(usage);
  expect(xai.usage!({ completion_tokens: 3 }, undefined)).toEqual({ completion_tokens: 3 });
});
