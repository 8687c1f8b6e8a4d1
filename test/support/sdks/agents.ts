import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { key, NEWEST, once, type Sdk, Telling } from "./sdk.ts";

setTracingDisabled(true);

const weather = tool({
  name: "weather",
  description: "The weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: [], additionalProperties: true },
  strict: false,
  execute: (input) => `sun in ${(input as { city: string }).city}`,
});

interface Part {
  type: string;
  text: string;
}

function agents(name: string, useResponses: boolean, more: Partial<Sdk>): Sdk {
  const run = async (url: string, prompt: string, stream: boolean, looped: boolean) => {
    const openAIClient = new OpenAI({ ...key, ...once, baseURL: `${url}/v1` });
    const agent = new Agent({
      name: "Forecaster",
      model: "gpt-5",
      tools: [weather],
      toolUseBehavior: looped ? "run_llm_again" : "stop_on_first_tool",
    });
    const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses }) });
    if (!stream) return runner.run(agent, prompt);
    const streamed = await runner.run(agent, prompt, { stream });
    await streamed.completed;
    return streamed;
  };
  return {
    name: `@openai/agents: ${name}`,
    async ask(url, prompt, streamed) {
      const [response] = (await run(url, prompt, streamed, false)).rawResponses;
      const telling = new Telling();
      for (const item of response?.output ?? []) {
        if (item.type === "reasoning") {
          for (const part of item.content as Part[]) telling.say("reasoning", part.text);
        }
        if (item.type === "message") {
          for (const part of item.content as Part[]) if (part.type === "output_text") telling.say("text", part.text);
        }
        if (item.type === "function_call") telling.call(item.name, JSON.parse(item.arguments));
        if (item.type === "hosted_tool_call") {
          telling.search((item.providerData as { action: { query: string } }).action.query);
        }
      }
      const usage = response?.usage;
      telling.count({
        input: usage?.inputTokens,
        output: usage?.outputTokens,
        cached: usage?.inputTokensDetails[0]?.["cached_tokens"],
        reasoning: usage?.outputTokensDetails[0]?.["reasoning_tokens"],
      });
      telling.name(response?.responseId, undefined);
      return telling.done();
    },
    async loop(url, prompt, streamed) {
      return String((await run(url, prompt, streamed, true)).finalOutput);
    },
    finish: { stop: undefined, calls: undefined, length: undefined, filtered: undefined },
    ...more,
    fails: { refused: /I would rather not/, ...more.fails },
  };
}

export const agentSdks: readonly Sdk[] = [
  agents("chat", false, { hides: ["reasoning", "searches", "order", "model"] }),
  agents("responses", true, {
    hides: ["model"],
    fails: NEWEST ? { length: /response\.incomplete/, filtered: /response\.failed/ } : {},
  }),
];
