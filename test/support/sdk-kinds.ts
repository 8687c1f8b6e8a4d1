import type { FixtureResponse } from "../../src/index.ts";
import type { Sdk, Told } from "./sdks.ts";

/** One kind of reply, and what an SDK makes of it. */
export interface Kind {
  prompt: string;
  response: FixtureResponse;
  told(sdk: Sdk): Partial<Told>;
}

const usage = { prompt_tokens: 11, completion_tokens: 7 };
const bern = { name: "weather", arguments: { city: "Bern" } };
const basel = { name: "weather", arguments: { city: 'Basel, "BS" 😀' } };
const called = [
  { id: "call_bern0000", ...bern },
  { id: "call_basel000", ...basel },
] as const;
const LONG = "A text of several chunks, with ünïcödé, 👩‍👩‍👧 and\nlines.";

export const kinds: readonly Kind[] = [
  {
    prompt: "say a text",
    response: { content: LONG, usage },
    told: ({ finish }) => ({ text: LONG, reasoning: "", calls: [], finish: finish.stop, tokens: [11, 7] }),
  },
  {
    prompt: "say JSON",
    response: { content: { capital: "Bern", of: ["CH"] } },
    told: ({ finish }) => ({ text: '{"capital":"Bern","of":["CH"]}', calls: [], finish: finish.stop }),
  },
  {
    prompt: "call a tool",
    response: { toolCalls: [called[0]], usage },
    told: ({ finish }) => ({ text: "", calls: [bern], finish: finish.calls, tokens: [11, 7] }),
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
    told: ({ finish, hidesReasoning }) => ({
      text: "Yes.",
      reasoning: hidesReasoning ? "" : "It was asked, so it is answered.",
      finish: finish.stop,
    }),
  },
  {
    prompt: "run out",
    response: { content: "And then the", finishReason: "length" },
    told: ({ finish }) => ({ text: "And then the", calls: [], finish: finish.length }),
  },
];

export const OVERLOADED = "Overloaded for now.";

/** Replies that end in an error in mid-stream, and at once. */
export const failures: readonly Pick<Kind, "prompt" | "response">[] = [
  {
    prompt: "break off",
    response: { content: "So far", streamError: { message: OVERLOADED, status: 503 } },
  },
  {
    prompt: "refuse",
    response: { error: { message: "Slow down", type: "rate_limit_error" }, status: 429, retryAfter: 2 },
  },
];
