import { Mistral } from "@mistralai/mistralai";
import Groq from "groq-sdk";
import OpenAI, { AzureOpenAI } from "openai";
import { all, key, NEWEST, once, type Sdk, Telling, type Told, user } from "./sdk.ts";

// Chat completions, which several clients read.

interface CompletionMessage {
  content?: unknown;
  refusal?: string | null;
  reasoning?: string | null;
  reasoning_content?: string | null;
  tool_calls?: { index?: number; function?: { name?: string; arguments?: string } }[] | null;
}

interface Completion {
  id: string;
  model: string;
  choices: { message?: CompletionMessage; delta?: CompletionMessage; finish_reason?: string | null }[];
  usage?: {
    prompt_tokens?: number;
    completion_tokens?: number;
    prompt_tokens_details?: { cached_tokens?: number } | null;
    completion_tokens_details?: { reasoning_tokens?: number } | null;
  } | null;
}

/** A completion, or the chunks of one. */
function completionTold(completions: Completion[]): Told {
  const telling = new Telling();
  for (const { id, model, choices, usage } of completions) {
    const [choice] = choices;
    const message = choice?.message ?? choice?.delta;
    telling.say("reasoning", message?.reasoning ?? message?.reasoning_content);
    if (typeof message?.content === "string") telling.say("text", message.content);
    telling.say("refusal", message?.refusal);
    message?.tool_calls?.forEach((call, at) => {
      telling.callPiece(call.index ?? at, call.function?.name, call.function?.arguments);
    });
    telling.end(choice?.finish_reason);
    telling.name(id, model);
    telling.count({
      input: usage?.prompt_tokens,
      output: usage?.completion_tokens,
      cached: usage?.prompt_tokens_details?.cached_tokens,
      reasoning: usage?.completion_tokens_details?.reasoning_tokens,
    });
  }
  return telling.done();
}

async function completion(client: OpenAI, model: string, prompt: string, streamed: boolean): Promise<Told> {
  const asked = { model, messages: user(prompt) };
  if (!streamed) return completionTold([(await client.chat.completions.create(asked)) as Completion]);
  const options = { ...asked, stream: true, stream_options: { include_usage: true } } as const;
  return completionTold((await all(await client.chat.completions.create(options))) as Completion[]);
}

async function mistralChat(url: string, prompt: string, streamed: boolean): Promise<Told> {
  const { chat } = new Mistral({ ...key, serverURL: url, retryConfig: { strategy: "none" } });
  const asked = { model: "magistral-medium-latest", messages: user(prompt) };
  const telling = new Telling();
  const events = streamed
    ? (await all(await chat.stream(asked))).map(({ data }) => ({ ...data, said: data.choices[0]?.delta }))
    : [await chat.complete(asked)].map((whole) => ({ ...whole, said: whole.choices?.[0]?.message }));
  for (const { said, choices, usage, id, model } of events) {
    const parts = typeof said?.content === "string" ? [{ type: "text" as const, text: said.content }] : said?.content;
    for (const part of parts ?? []) {
      if (part.type === "text") telling.say("text", part.text);
      if (part.type === "thinking")
        for (const piece of part.thinking) if ("text" in piece) telling.say("reasoning", piece.text);
    }
    said?.toolCalls?.forEach((call, at) => {
      telling.callPiece(streamed ? (call.index ?? at) : at, call.function.name, String(call.function.arguments));
    });
    telling.end(choices?.[0]?.finishReason);
    telling.name(id, model);
    telling.count({ input: usage?.promptTokens, output: usage?.completionTokens });
  }
  return telling.done();
}

export const COMPLETION_WORDS = { stop: "stop", calls: "tool_calls", length: "length", filtered: "content_filter" };

function openai(name: string, path: string, model: string): Sdk {
  return {
    name: `openai: ${name}`,
    finish: COMPLETION_WORDS,
    hides: ["order, whole", "searches"],
    ask: (url, prompt, streamed) =>
      completion(new OpenAI({ ...key, ...once, baseURL: url + path }), model, prompt, streamed),
  };
}

export const completionSdks: readonly Sdk[] = [
  openai("chat", "/v1", "gpt-5"),
  openai("openrouter", "/api/v1", "openai/gpt-5"),
  // Of errors that are in a list it reads the status alone.
  {
    ...openai("gemini", "/v1beta/openai", "gemini-3"),
    ...(!NEWEST && { turnedDown: /^429 status code \(no body\)$/ }),
  },
  {
    ...openai("azure", "", ""),
    ask: (url, prompt, streamed) => {
      const client = new AzureOpenAI({ ...key, ...once, endpoint: url, apiVersion: "2025-04-01-preview" });
      return completion(client, "my-gpt", prompt, streamed);
    },
  },
  {
    ...openai("", "", ""),
    name: "groq-sdk",
    refusesInText: true,
    ask: async (url, prompt, streamed) => {
      const client = new Groq({ ...key, ...once, baseURL: url });
      return completion(client as unknown as OpenAI, "openai/gpt-oss-120b", prompt, streamed);
    },
  },
  {
    name: "@mistralai/mistralai",
    finish: COMPLETION_WORDS,
    refusesInText: true,
    hides: ["order, whole", "searches", "cached", "reasoning tokens"],
    ask: mistralChat,
    // It reads completions only, and finds this to be none.
    brokenOff: /invalid_type/,
  },
];
