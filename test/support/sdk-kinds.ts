import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { FixtureResponse } from "../../src/index.ts";
import { type Failure, hides, inForm, type PartKind, type Sdk, type Told } from "./sdks/sdk.ts";

/** One kind of reply, and what an SDK makes of it. */
export interface Kind {
  prompt: string;
  response: FixtureResponse;
  /** What it hands its user, in one of the two forms. */
  told(sdk: Sdk, streamed: boolean): Partial<Omit<Told, "tokens">> & { tokens?: Partial<Told["tokens"]> };
  /** What it says where it makes an error of the reply. */
  fails?(sdk: Sdk): Failure | undefined;
}

const usage = { prompt_tokens: 11, completion_tokens: 7 };
const bern = { name: "weather", arguments: { city: "Bern" } };
const basel = { name: "weather", arguments: { city: 'Basel, "BS" 😀' } };
const called = [
  { id: "call_bern0000", ...bern },
  { id: "call_basel000", ...basel },
] as const;
const NO = "I would rather not.";
const TURNS: PartKind[] = ["text", "call", "text", "call"];
/** What is hidden must not be there: a flag that says so would otherwise outlive its reason. */
const not = <T>(value: T): T => expect.toSatisfy((told) => !isDeepStrictEqual(told, value)) as T;
const LONG = "A text of several chunks, with ünïcödé, 👩‍👩‍👧 and\nlines.";

export const kinds: readonly Kind[] = [
  {
    prompt: "say a text",
    response: { content: LONG, usage },
    told: ({ finish }) => ({
      text: LONG,
      reasoning: "",
      calls: [],
      finish: finish.stop,
      tokens: { input: 11, output: 7 },
    }),
  },
  {
    prompt: "say JSON",
    response: { content: { capital: "Bern", of: ["CH"] } },
    told: ({ finish }) => ({ text: '{"capital":"Bern","of":["CH"]}', calls: [], finish: finish.stop }),
  },
  {
    prompt: "call a tool",
    response: { toolCalls: [called[0]], usage },
    told: ({ finish }) => ({ text: "", calls: [bern], finish: finish.calls, tokens: { input: 11, output: 7 } }),
  },
  {
    prompt: "call two tools",
    response: { toolCalls: [...called] },
    told: ({ finish }) => ({ text: "", calls: [bern, basel], finish: finish.calls }),
  },
  {
    prompt: "speak and call",
    response: { content: "Let me see.", toolCalls: [called[1]] },
    told: ({ finish }) => ({ text: "Let me see.", calls: [basel], finish: finish.calls }),
  },
  {
    prompt: "think",
    response: { reasoning: "It was asked, so it is answered.", reasoningSignature: "c2lnbmVk", content: "Yes." },
    told: (sdk, streamed) => ({
      text: "Yes.",
      reasoning: hides(sdk, "reasoning", streamed) ? "" : "It was asked, so it is answered.",
      finish: sdk.finish.stop,
    }),
  },
  {
    prompt: "run out",
    response: { content: "And then the", finishReason: "length" },
    fails: (sdk) => sdk.fails?.length,
    told: ({ finish }, streamed) => ({ text: "And then the", calls: [], finish: inForm(finish.length, streamed) }),
  },
  {
    prompt: "be filtered",
    response: { content: "Half of it", finishReason: "content_filter" },
    fails: (sdk) => sdk.fails?.filtered,
    told: ({ finish }, streamed) => ({
      text: "Half of it",
      refusal: "",
      calls: [],
      finish: inForm(finish.filtered, streamed),
    }),
  },
  {
    prompt: "decline",
    response: { refusal: NO },
    fails: (sdk) => sdk.fails?.refused,
    told: (sdk, streamed) => ({
      text: sdk.refusesInText ? NO : "",
      refusal: sdk.refusesInText || hides(sdk, "refusal", streamed) ? "" : NO,
      calls: [],
      finish: sdk.finish.refused ?? sdk.finish.stop,
    }),
  },
  {
    prompt: "look it up",
    response: { webSearches: ["weather in Bern", "sun"], content: "It is sunny." },
    told: (sdk, streamed) => ({
      text: "It is sunny.",
      calls: [],
      searches: hides(sdk, "searches", streamed) ? [] : ["weather in Bern", "sun"],
      finish: sdk.finish.stop,
    }),
  },
  {
    prompt: "take turns",
    response: {
      blocks: [
        { type: "text", text: "First." },
        { type: "toolCall", ...called[0] },
        { type: "text", text: "Second." },
        { type: "toolCall", ...called[1] },
      ],
    },
    told: (sdk, streamed) => ({
      text: "First.Second.",
      calls: [bern, basel],
      order: hides(sdk, "order", streamed) ? not(TURNS) : TURNS,
      finish: sdk.finish.calls,
    }),
  },
  {
    prompt: "be someone else",
    response: {
      content: "Me.",
      id: "own-id",
      model: "own-model",
      usage: {
        prompt_tokens: 100,
        completion_tokens: 50,
        prompt_tokens_details: { cached_tokens: 64 },
        completion_tokens_details: { reasoning_tokens: 20 },
      },
    },
    told: (sdk, streamed) => ({
      text: "Me.",
      id: hides(sdk, "id", streamed) ? not("own-id") : "own-id",
      model: hides(sdk, "model", streamed) ? not("own-model") : "own-model",
      tokens: {
        input: 100,
        output: 50,
        cached: hides(sdk, "cached", streamed) ? undefined : 64,
        reasoning: hides(sdk, "reasoning tokens", streamed) ? undefined : 20,
      },
    }),
  },
];

/** The call of a tool, with the word that a fixture gives for it and with that which recordings of Gemini have. */
export const loops = (["tool_calls", "stop"] as const).map((after) => ({
  after,
  prompt: `find out, ${after}`,
  response: { toolCalls: [called[0]], finishReason: after },
}));

export const SLOW_DOWN = "Slow down";
export const OVERLOADED = "Overloaded for now.";

/** Replies that end in an error in mid-stream, and at once. */
export const failures: readonly Pick<Kind, "prompt" | "response">[] = [
  {
    prompt: "break off",
    response: { content: "So far", streamError: { message: OVERLOADED, status: 503 } },
  },
  {
    prompt: "refuse",
    response: { error: { message: SLOW_DOWN, type: "rate_limit_error" }, status: 429, retryAfter: 2 },
  },
];
