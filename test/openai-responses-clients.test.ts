import { createOpenAI } from "@ai-sdk/openai";
import { Agent, tool as agentTool, OpenAIProvider, Runner, setTracingDisabled } from "@openai/agents";
import { generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { sharedDouble } from "./support/double.ts";

const double = sharedDouble();
beforeAll(() => {
  setTracingDisabled(true);
});

const city = z.object({ city: z.string() });

/** Two steps: the call, and the answer to its result. */
function addWeather(): void {
  double.onToolResult("call_1", { content: "It is sunny in Bern." });
  double.onMessage("weather", {
    reasoning: "I should look.",
    content: "Let me see.",
    toolCalls: [{ id: "call_1", name: "weather", arguments: { city: "Bern" } }],
  });
}

describe("ai", () => {
  const openai = () => createOpenAI({ baseURL: `${double.url}/v1`, apiKey: "x" });
  const tools = { weather: tool({ inputSchema: city, execute: ({ city: place }) => `sun in ${place}` }) };

  it.each([true, false])("calls tools in a loop of two steps (stored: %s)", async (store) => {
    addWeather();
    const providerOptions = { openai: { store, include: ["reasoning.encrypted_content"] } };
    const model = openai()("gpt-5");
    const asked = { model, tools, providerOptions, stopWhen: stepCountIs(3), prompt: "weather?" };
    const whole = await generateText(asked);
    expect(whole.steps.map(({ text }) => text)).toEqual(["Let me see.", "It is sunny in Bern."]);
    expect(whole.steps[0]?.toolCalls).toMatchObject([
      { toolCallId: "call_1", toolName: "weather", input: { city: "Bern" } },
    ]);
    expect(await streamText(asked).text).toBe("It is sunny in Bern.");
  });

  it("gets objects", async () => {
    double.on({ userMessage: "capital", responseFormat: "json_schema" }, { content: { city: "Bern" } });
    const { object } = await generateObject({ model: openai()("gpt-5"), schema: city, prompt: "capital?" });
    expect(object).toEqual({ city: "Bern" });
  });
});

describe("OpenAI Agents", () => {
  it.each([true, false])("run a tool in a loop of two steps (streamed: %s)", async (stream) => {
    addWeather();
    const openAIClient = new OpenAI({ baseURL: `${double.url}/v1`, apiKey: "x" });
    const agent = new Agent({
      name: "Forecaster",
      instructions: "Look it up.",
      model: "gpt-5",
      tools: [
        agentTool({
          name: "weather",
          description: "The weather",
          parameters: city,
          execute: ({ city: place }) => `sun in ${place}`,
        }),
      ],
    });
    const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses: true }) });
    if (stream) {
      const run = await runner.run(agent, "weather?", { stream });
      await run.completed;
      expect(run.finalOutput).toBe("It is sunny in Bern.");
    } else {
      const run = await runner.run(agent, "weather?");
      expect(run.finalOutput).toBe("It is sunny in Bern.");
      expect(run.newItems.map(({ type }) => type)).toEqual([
        "reasoning_item",
        "message_output_item",
        "tool_call_item",
        "tool_call_output_item",
        "message_output_item",
      ]);
    }
    expect(double.calls().map(({ response }) => response.status)).toEqual([200, 200]);
  });
});
