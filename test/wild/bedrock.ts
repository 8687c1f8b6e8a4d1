import {
  BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandOutput,
  ConverseStreamCommand,
  type ConverseStreamOutput,
} from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { bedrockConverse } from "../../src/dialects/bedrock-converse/index.ts";
import type { Asked, Seen, Source, WildProvider } from "./provider.ts";
import { KEY_HEADER } from "./serve.ts";

type Json = Record<string, unknown>;

export const converseRecordings: WildProvider = {
  name: "bedrock-converse",
  operation: bedrockConverse.operations[0]!,
  claims: ({ path, folder }) =>
    path === undefined ? folder === "bedrock-converse" : /^\/model\/.*\/converse(-stream)?$/.test(path),
  starts: (message) => typeof message === "object" && message !== null && "messageStart" in message,
  asked,
  read,
  // Some of the recordings have been shortened by hand, to events without a beginning or an end.
  added: ["rest.metrics", "rest.role", "usage"],
};

export function asked(body: Json, path: string): Asked {
  const messages = body["messages"] as { role: string; content: Json[] }[];
  const said = messages.filter(({ role }) => role === "user").map(({ content }) => content);
  const tools = ((body["toolConfig"] as Json | undefined)?.["tools"] ?? []) as Json[];
  return {
    model: decodeURIComponent(path.split("/")[2]!),
    // Tool results stand in user messages; what comes after them is what the user says.
    lastUserText: said
      .map((content) => content.slice(content.findLastIndex((block) => "toolResult" in block) + 1))
      .filter((content) => content.some((block) => !("cachePoint" in block)))
      .map(textOf)
      .at(-1),
    systemText: textOf((body["system"] ?? []) as Json[]),
    toolNames: tools.flatMap(({ toolSpec }) => (toolSpec ? [(toolSpec as { name: string }).name] : [])),
    toolResults: messages
      .flatMap(({ content }) => content)
      .flatMap(({ toolResult }) => (toolResult ? [toolResult as { toolUseId: string; content: Json[] }] : []))
      .map(({ toolUseId, content }) => [toolUseId, textOf(content)]),
  };
}

function textOf(blocks: Json[]): string {
  return blocks.map(({ text, json }) => (json === undefined ? (text ?? "") : JSON.stringify(json))).join("");
}

/** @param use is done with the client when it ends */
export async function withClient(
  { url, key }: Source,
  use: (client: BedrockRuntimeClient) => Promise<Seen>,
): Promise<Seen> {
  const client = new BedrockRuntimeClient({
    endpoint: url,
    region: "us-east-1",
    credentials: { accessKeyId: "none", secretAccessKey: "none" },
    maxAttempts: 1,
    // The server of the originals knows no HTTP/2.
    requestHandler: new NodeHttpHandler(),
  });
  client.middlewareStack.add(
    (next) => (args) => {
      (args.request as { headers: Record<string, string> }).headers[KEY_HEADER] = key;
      return next(args);
    },
    { step: "build" },
  );
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}

function read(source: Source): Promise<Seen> {
  const request = { modelId: "any", messages: [{ role: "user" as const, content: [{ text: "any" }] }] };
  return withClient(source, async (client) => {
    if (!source.streamed) return seen(await client.send(new ConverseCommand(request)));
    const { stream } = await client.send(new ConverseStreamCommand(request));
    const events: ConverseStreamOutput[] = [];
    for await (const event of stream!) events.push(event);
    return seen(putTogether(events));
  });
}

/** The whole that a stream's events are pieces of. */
function putTogether(events: ConverseStreamOutput[]): Json {
  let whole: Json = {};
  let role: unknown;
  const content: Json[] = [];
  for (const { messageStart, contentBlockStart, contentBlockDelta, messageStop, metadata } of events) {
    if (messageStart !== undefined) role = messageStart.role;
    if (contentBlockStart !== undefined) content[contentBlockStart.contentBlockIndex!] = { ...contentBlockStart.start };
    if (contentBlockDelta !== undefined) {
      const index = contentBlockDelta.contentBlockIndex!;
      content[index] = added(content[index] ?? {}, contentBlockDelta.delta as unknown as Json);
    }
    whole = { ...whole, ...messageStop, ...metadata };
  }
  return { ...whole, output: { message: { role, content: content.map(withInput) } } };
}

function added(block: Json, { text, toolUse, toolResult, reasoningContent, ...others }: Json): Json {
  if (text !== undefined) return { ...block, text: `${block["text"] ?? ""}${text}` };
  if (toolUse !== undefined) {
    const before = block["toolUse"] as Json;
    return { toolUse: { ...before, input: `${before["input"] ?? ""}${(toolUse as Json)["input"]}` } };
  }
  if (toolResult !== undefined) return { toolResult: { ...(block["toolResult"] as Json), content: toolResult } };
  if (reasoningContent === undefined) return { ...block, ...others };
  const { text: piece, ...rest } = reasoningContent as Json;
  if ("redactedContent" in rest) return { reasoningContent: rest };
  const before = ((block["reasoningContent"] as Json | undefined)?.["reasoningText"] ?? {}) as Json;
  const reasoningText = { ...before, ...rest, text: `${before["text"] ?? ""}${piece ?? ""}` };
  return { reasoningContent: { reasoningText } };
}

function withInput(block: Json): Json {
  const { toolUse } = block as { toolUse?: Json };
  if (toolUse === undefined) return block;
  const { input } = toolUse as { input?: string };
  return { toolUse: { ...toolUse, input: input ? JSON.parse(input) : {} } };
}

function seen(reply: ConverseCommandOutput | Json): Seen {
  const { output, stopReason, usage, $metadata: _, ...rest } = reply as Json;
  const { role, content } = (output as { message: { role: string; content: Json[] } }).message;
  return {
    text: content.flatMap(({ text }) => (text ? [text] : [])),
    reasoning: content.flatMap(({ reasoningContent }) =>
      reasoningContent ? [reasoned(reasoningContent as Json)] : [],
    ),
    toolCalls: content.flatMap(({ toolUse }) => (toolUse ? [toolUse] : [])),
    finish: stopReason,
    usage,
    rest: { ...rest, role, content },
  };
}

function reasoned({ reasoningText, redactedContent }: Json): unknown[] {
  const { text, signature } = (reasoningText ?? {}) as Json;
  return [text, signature, redactedContent && Buffer.from(redactedContent as Uint8Array).toString("base64")];
}
