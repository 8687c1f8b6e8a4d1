import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FixtureResponse, StuntDouble } from "../src/index.ts";
import { type Sdk, sdks, type Told } from "./support/sdks.ts";

/**
 * What each SDK hands its user of each kind of reply, whole and streamed. Locally every kind is asked of every SDK in
 * one of the two ways, by turns; all are asked in both where CI is set.
 */
const WHOLE_TABLE = process.env["CI"] === "true";

let double: StuntDouble;
beforeAll(async () => {
  double = await StuntDouble.start();
  for (const { prompt, response } of kinds) double.on({ userMessage: prompt }, response);
  double.on({ userMessage: "break off" }, { content: "So far", streamError: { message: OVERLOADED, status: 503 } });
});
afterAll(() => double.stop());

const OVERLOADED = "Overloaded for now.";
const usage = { prompt_tokens: 11, completion_tokens: 7 };
const bern = { name: "weather", arguments: { city: "Bern" } };
const basel = { name: "weather", arguments: { city: 'Basel, "BS" 😀' } };
const called = [
  { id: "call_bern0000", ...bern },
  { id: "call_basel000", ...basel },
] as const;
const LONG = "A text of several chunks, with ünïcödé, 👩‍👩‍👧 and\nlines.";

interface Kind {
  prompt: string;
  response: FixtureResponse;
  told(sdk: Sdk): Partial<Told>;
}

const kinds: Kind[] = [
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

describe.each(sdks.map((sdk, index) => ({ ...sdk, index })))("$name", ({ index, ...sdk }) => {
  const cells = kinds.flatMap((kind, at) =>
    [false, true]
      .filter((streamed) => WHOLE_TABLE || streamed === ((index + at) % 2 === 0))
      .map((streamed) => ({ ...kind, streamed, how: streamed ? "streamed" : "whole" })),
  );
  it.each(cells)("$prompt, $how", async ({ prompt, told, streamed }) => {
    expect(await sdk.ask(double.url, prompt, streamed)).toMatchObject(told(sdk));
  });

  it("says that a reply broke off", async () => {
    const streamed = sdk.ask(double.url, "break off", true);
    if (sdk.passesOverErrors === undefined) await expect(streamed).rejects.toThrow(sdk.brokenOff ?? OVERLOADED);
    else expect(await streamed).toMatchObject({ text: "So far", finish: sdk.passesOverErrors });
    // Whoever does not stream has nothing of it.
    const error = await sdk.ask(double.url, "break off", false).catch((thrown: unknown) => thrown);
    expect(statusOf(error)).toBe(503);
  });
});

function statusOf(error: unknown): number | undefined {
  const { status, statusCode, status_code, $metadata } = error as Record<string, number | undefined> & {
    $metadata?: { httpStatusCode?: number };
  };
  return status ?? statusCode ?? status_code ?? $metadata?.httpStatusCode;
}
