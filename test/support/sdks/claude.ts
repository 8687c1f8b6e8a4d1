import { AnthropicBedrock } from "@anthropic-ai/bedrock-sdk";
import Anthropic from "@anthropic-ai/sdk";
import { AnthropicVertex } from "@anthropic-ai/vertex-sdk";
import { googleAuth } from "./google.ts";
import { key, once, type Sdk, Telling, type Told, user } from "./sdk.ts";

// Anthropic's client, wherever Claude is.

type Messages = Pick<Anthropic["messages"], "create"> & Partial<Pick<Anthropic["messages"], "stream">>;

async function message(messages: Messages, model: string, prompt: string, streamed: boolean): Promise<Told> {
  const asked = { model, max_tokens: 100, messages: user(prompt) };
  const said = streamed ? await messages.stream!(asked).finalMessage() : await messages.create(asked);
  const telling = new Telling();
  for (const block of said.content) {
    if (block.type === "text") telling.say("text", block.text);
    if (block.type === "thinking") telling.say("reasoning", block.thinking);
    if (block.type === "tool_use") telling.call(block.name, block.input);
    if (block.type === "server_tool_use") telling.search((block.input as { query: string }).query);
  }
  telling.say("refusal", said.stop_details?.explanation);
  telling.end(said.stop_reason);
  telling.name(said.id, said.model);
  count(telling, said.usage);
  return telling.done();
}

function count(telling: Telling, usage: Anthropic.Usage): void {
  // What a cache held is counted beside the input.
  const { input_tokens: input, cache_read_input_tokens: cached, output_tokens: output } = usage;
  const reasoning = usage.output_tokens_details?.thinking_tokens;
  telling.count({ input: input + (cached ?? 0), output, cached, reasoning });
}

export const CLAUDE_WORDS = {
  stop: "end_turn",
  calls: "tool_use",
  length: "max_tokens",
  filtered: "refusal",
  refused: "refusal",
};
export const CLAUDE_ON_BEDROCK = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

/** Its client hands on events, and puts nothing together. */
async function bedrockMessage(url: string, prompt: string, streamed: boolean): Promise<Told> {
  const { messages } = new AnthropicBedrock({
    ...once,
    baseURL: url,
    awsAccessKey: "x",
    awsSecretKey: "x",
    awsRegion: "us-east-1",
  });
  if (!streamed) return message(messages as unknown as Messages, CLAUDE_ON_BEDROCK, prompt, false);
  const telling = new Telling();
  const searches = new Map<number, string>();
  const asked = { model: CLAUDE_ON_BEDROCK, max_tokens: 100, messages: user(prompt), stream: true } as const;
  for await (const event of await messages.create(asked)) {
    switch (event.type) {
      case "message_start":
        telling.name(event.message.id, event.message.model);
        count(telling, event.message.usage);
        break;
      case "content_block_start":
        if (event.content_block.type === "tool_use") telling.callPiece(event.index, event.content_block.name, "");
        if (event.content_block.type === "server_tool_use") searches.set(event.index, "");
        break;
      case "content_block_delta": {
        const { delta, index } = event;
        const search = searches.get(index);
        if (delta.type === "text_delta") telling.say("text", delta.text);
        if (delta.type === "thinking_delta") telling.say("reasoning", delta.thinking);
        if (delta.type !== "input_json_delta") break;
        if (search === undefined) telling.callPiece(index, "", delta.partial_json);
        else searches.set(index, search + delta.partial_json);
        break;
      }
      case "content_block_stop": {
        const search = searches.get(event.index);
        if (search !== undefined) telling.search((JSON.parse(search) as { query: string }).query);
        break;
      }
      case "message_delta":
        telling.say("refusal", event.delta.stop_details?.explanation);
        telling.end(event.delta.stop_reason);
        telling.count({
          output: event.usage.output_tokens,
          reasoning: event.usage.output_tokens_details?.thinking_tokens,
        });
    }
  }
  return telling.done();
}

export const claudeSdks: readonly Sdk[] = [
  {
    name: "@anthropic-ai/sdk",
    finish: CLAUDE_WORDS,
    ask: (url, prompt, streamed) =>
      message(new Anthropic({ ...key, ...once, baseURL: url }).messages, "claude-sonnet-5", prompt, streamed),
  },
  {
    name: "@anthropic-ai/vertex-sdk",
    finish: CLAUDE_WORDS,
    ask: (url, prompt, streamed) => {
      const { messages } = new AnthropicVertex({
        ...once,
        baseURL: `${url}/v1`,
        region: "europe-west1",
        projectId: "p-1",
        authClient: googleAuth,
      });
      return message(messages as unknown as Messages, "claude-sonnet-4-5@20250929", prompt, streamed);
    },
  },
  { name: "@anthropic-ai/bedrock-sdk", finish: CLAUDE_WORDS, ask: bedrockMessage },
];
