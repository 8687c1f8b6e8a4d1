import { GoogleGenAI } from "@google/genai";
import { geminiInteractions } from "../../src/dialects/gemini-interactions/index.ts";
import type { Seen, Source, WildProvider } from "./provider.ts";
import { KEY_HEADER } from "./serve.ts";

type Json = Record<string, unknown>;

export const interactionRecordings: WildProvider = {
  name: "gemini-interactions",
  operation: geminiInteractions.operations[0]!,
  claims: ({ path, messages }) => (path === undefined ? isInteraction(messages?.[0]) : path.endsWith("/interactions")),
  starts: (message) => (message as Json | undefined)?.["event_type"] === "interaction.created",
  asked: () => {
    throw new Error("no request was recorded");
  },
  read,
  readEvents: read,
};

function isInteraction(message: unknown): boolean {
  const { object, event_type: type } = (message ?? {}) as Json;
  return object === "interaction" || type === "interaction.created";
}

/** The client accumulates nothing of a stream: its events are put together here. */
async function read({ url, key, streamed, reply }: Source): Promise<Seen> {
  const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: url, headers: { [KEY_HEADER]: key } } });
  // Only what is stored has an id.
  const request = { model: "any", input: "any", store: reply.envelope?.id !== "", automatic_continuation: false };
  if (!streamed) return seen((await client.interactions.create(request)) as unknown as Json);
  const steps: Json[] = [];
  let whole: Json = {};
  for await (const event of await client.interactions.create({ ...request, stream: true })) {
    switch (event.event_type) {
      case "interaction.created":
      case "interaction.completed":
        whole = { ...whole, ...event.interaction };
        break;
      case "step.start":
        steps[event.index] = { ...event.step };
        break;
      case "step.delta":
        addDelta(steps[event.index]!, event.delta as unknown as Json);
        break;
    }
  }
  return seen({ ...whole, steps });
}

function addDelta(step: Json, delta: Json): void {
  switch (delta["type"]) {
    case "text":
      step["content"] = [{ type: "text", text: textIn(step["content"]) + (delta["text"] as string) }];
      break;
    case "text_annotation_delta":
      step["content"] = [{ ...(step["content"] as Json[])[0], annotations: delta["annotations"] }];
      break;
    case "thought_signature":
      step["signature"] = delta["signature"];
      break;
    case "arguments_delta":
      step["arguments"] =
        (typeof step["arguments"] === "string" ? step["arguments"] : "") + (delta["arguments"] as string);
      break;
    default:
      throw new Error(`no recording had a delta of the type ${delta["type"]}`);
  }
}

function textIn(content: unknown): string {
  return ((content ?? []) as Json[]).map(({ text }) => text ?? "").join("");
}

function seen({ steps, status, usage, sdkHttpResponse: _, ...rest }: Json): Seen {
  const all = steps as Json[];
  const calls = all.filter(({ type }) => type === "function_call");
  return {
    text: all.filter(({ type }) => type === "model_output").map(({ content }) => textIn(content)),
    reasoning: all.filter(({ type }) => type === "thought"),
    toolCalls: calls.map(({ arguments: given, ...call }) => [
      call,
      typeof given === "string" ? JSON.parse(given) : given,
    ]),
    finish: status,
    usage,
    rest: { ...rest, steps: all },
  };
}
