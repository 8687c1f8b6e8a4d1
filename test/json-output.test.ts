import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { StuntDouble } from "../src/index.ts";
import { jsonAsks } from "./support/json-asks.ts";
import { providerCalls, sendCall } from "./support/provider-calls.ts";

/** Those that continue a text; `response_format` came after them. */
const WITHOUT_JSON = [
  "openai-completions",
  "azure-completions",
  "bedrock-invoke-llama",
  "bedrock-invoke-mistral",
  "bedrock-invoke-titan",
];

let double: StuntDouble;
beforeAll(() => {
  double = new StuntDouble();
});
afterEach(() => double.reset());
afterAll(() => double.stop());

it("has every provider in it", () => {
  expect([...Object.keys(jsonAsks), ...WITHOUT_JSON].toSorted()).toEqual(
    providerCalls.map(({ operation }) => operation).toSorted(),
  );
});

describe.each(providerCalls.filter(({ operation }) => operation in jsonAsks))("$title", (call) => {
  const asks = Object.entries(jsonAsks[call.operation]!);

  it.each(asks)("is answered by onJsonOutput when it asks for JSON: %s", async (_, members) => {
    double.onJsonOutput("capital", { capital: "Bern" });
    const asking = {
      ...call,
      body: (prompt: string, streamed: boolean) => ({ ...call.body(prompt, streamed), ...members }),
    };
    for (const streamed of [false, true]) {
      const { status, text } = await sendCall(double.fetch, asking, "the capital?", streamed);
      expect([status, text.includes("Bern")]).toEqual([200, true]);
    }
  });

  it("is not when it asks for text", async () => {
    double.onJsonOutput("capital", { capital: "Bern" });
    double.onMessage("capital", { content: "It is Thun." });
    const { text } = await sendCall(double.fetch, call, "the capital?", false);
    expect(text).toContain("It is Thun.");
  });
});
