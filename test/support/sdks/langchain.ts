import { type AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOpenAI } from "@langchain/openai";
import { COMPLETION_WORDS } from "./completions.ts";
import { GEMINI_WORDS } from "./google.ts";
import { RESPONSE_WORDS } from "./others.ts";
import { all, key, once, type Sdk, Telling } from "./sdk.ts";

type Model = ChatOpenAI | ChatGoogleGenerativeAI;

async function answer(
  model: Pick<Model, "stream" | "invoke">,
  asked: Parameters<Model["invoke"]>[0],
  streamed: boolean,
) {
  if (!streamed) return (await model.invoke(asked)) as AIMessageChunk;
  const chunks: AIMessageChunk[] = await all(await model.stream(asked));
  return chunks.reduce((sum, chunk) => sum.concat(chunk));
}

/** What it leaves as Gemini has it. */
interface Gemini {
  finishMessage?: string;
  groundingMetadata?: { webSearchQueries?: string[] };
}

const WEATHER = { type: "object", properties: { city: { type: "string" } } } as const;

function langChain(name: string, modelAt: (url: string) => Model, more: Pick<Sdk, "finish"> & Partial<Sdk>): Sdk {
  return {
    name: `@langchain/${name}`,
    async ask(url, prompt, streamed) {
      const said = await answer(modelAt(url), prompt, streamed);
      const { response_metadata: metadata, additional_kwargs: extra, usage_metadata: usage, id } = said;
      const telling = new Telling();
      telling.say("reasoning", extra["reasoning_content"] as string | undefined);
      for (const block of said.contentBlocks) {
        if (block.type === "text") telling.say("text", block.text as string);
        telling.say("reasoning", (block["reasoning"] ?? block["thinking"]) as string | undefined);
        if (block.type === "tool_call") telling.call(block.name as string, block["args"]);
        if (block.type === "server_tool_call") telling.search((block["args"] as { query: string }).query);
      }
      const { finishMessage, groundingMetadata } = metadata as Gemini;
      telling.say("refusal", (extra["refusal"] as string | undefined) ?? finishMessage);
      for (const query of groundingMetadata?.webSearchQueries ?? []) telling.search(query);
      telling.end(String(metadata["finish_reason"] ?? metadata["finishReason"] ?? metadata["status"]));
      telling.name(id, metadata["model_name"] as string | undefined);
      telling.count({
        input: usage?.input_tokens,
        // Gemini counts thoughts beside the rest of the output, and it tells them in the total alone.
        output: usage && usage.total_tokens - usage.input_tokens,
        cached: usage?.input_token_details?.cache_read,
        reasoning: usage?.output_token_details?.reasoning,
      });
      return telling.done();
    },
    async loop(url, prompt, streamed) {
      const model = modelAt(url).bindTools([{ name: "weather", description: "", schema: WEATHER }]) as Model;
      const call = await answer(model, prompt, streamed);
      const results = (call.tool_calls ?? []).map(
        ({ id, name: called, args }) =>
          new ToolMessage({ tool_call_id: id ?? "", name: called, content: `sun in ${args["city"]}` }),
      );
      return (await answer(model, [new HumanMessage(prompt), call, ...results], streamed)).text;
    },
    ...more,
  };
}

const openai = (url: string, useResponsesApi: boolean) =>
  new ChatOpenAI({ ...key, ...once, model: "gpt-5", useResponsesApi, configuration: { baseURL: `${url}/v1` } });

export const langChainSdks: readonly Sdk[] = [
  langChain("openai: chat", (url) => openai(url, false), {
    finish: COMPLETION_WORDS,
    hides: ["refusal", "order", "searches"],
  }),
  langChain("openai: responses", (url) => openai(url, true), {
    finish: { ...RESPONSE_WORDS, filtered: "undefined" },
    hides: ["order"],
    fails: { filtered: { whole: /content management policy/ } },
  }),
  langChain(
    "google-genai",
    (url) => new ChatGoogleGenerativeAI({ ...key, ...once, model: "gemini-2.5-flash", baseUrl: url }),
    {
      finish: GEMINI_WORDS,
      hides: ["order, whole", "id", "model", "reasoning tokens"],
      passesOverErrors: "undefined",
    },
  ),
];
