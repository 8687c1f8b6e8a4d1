import { GoogleGenAI } from "@google/genai";
import { all, key, once, type Sdk, Telling, type Told } from "./sdk.ts";

// Google's client, with Gemini and Vertex AI.

const noRetry = { attempts: 1 };
export const googleAuth = { getRequestHeaders: async () => new Headers({ authorization: "Bearer x" }) } as never;

const geminiAt = (url: string) => new GoogleGenAI({ ...key, httpOptions: { baseUrl: url, retryOptions: noRetry } });

async function content({ models }: GoogleGenAI, prompt: string, streamed: boolean): Promise<Told> {
  const asked = { model: "gemini-2.5-flash", contents: prompt };
  const telling = new Telling();
  const responses = streamed
    ? await all(await models.generateContentStream(asked))
    : [await models.generateContent(asked)];
  for (const { candidates, usageMetadata: usage, responseId, modelVersion } of responses) {
    const [candidate] = candidates ?? [];
    for (const { text, thought, functionCall } of candidate?.content?.parts ?? []) {
      telling.say(thought ? "reasoning" : "text", text);
      if (functionCall) telling.call(functionCall.name!, functionCall.args);
    }
    for (const query of candidate?.groundingMetadata?.webSearchQueries ?? []) telling.search(query);
    telling.say("refusal", candidate?.finishMessage);
    telling.end(candidate?.finishReason);
    telling.name(responseId, modelVersion);
    const thoughts = usage?.thoughtsTokenCount;
    telling.count({
      input: usage?.promptTokenCount,
      // Thoughts are counted beside it.
      output: usage && (usage.candidatesTokenCount ?? 0) + (thoughts ?? 0),
      cached: usage?.cachedContentTokenCount,
      reasoning: thoughts,
    });
  }
  return telling.done();
}

interface Interaction {
  id: string;
  model?: string | undefined;
  status?: string;
  usage?: {
    total_input_tokens?: number;
    total_output_tokens?: number;
    total_thought_tokens?: number;
    total_cached_tokens?: number;
  };
}

/** Interactions have a client of their own, with other options. */
async function interaction(url: string, input: string, streamed: boolean): Promise<Told> {
  const { interactions } = geminiAt(url);
  const telling = new Telling();
  const asked = { model: "gemini-2.5-flash", input };
  const end = ({ id, model, status, usage }: Interaction): void => {
    telling.end(status);
    telling.name(id, model);
    telling.count({
      input: usage?.total_input_tokens,
      output: usage && (usage.total_output_tokens ?? 0) + (usage.total_thought_tokens ?? 0),
      cached: usage?.total_cached_tokens,
      reasoning: usage?.total_thought_tokens,
    });
  };
  if (!streamed) {
    const whole = await interactions.create(asked, once);
    for (const step of whole.steps ?? []) {
      if (step.type === "model_output")
        for (const part of step.content ?? []) if (part.type === "text") telling.say("text", part.text);
      if (step.type === "thought")
        for (const part of step.summary ?? []) if (part.type === "text") telling.say("reasoning", part.text);
      if (step.type === "function_call") telling.call(step.name, step.arguments);
      if (step.type === "google_search_call") for (const query of step.arguments?.queries ?? []) telling.search(query);
    }
    end(whole);
    return telling.done();
  }
  for await (const event of await interactions.create({ ...asked, stream: true }, once)) {
    if (event.event_type === "error") throw new Error(event.error?.message);
    if (event.event_type === "step.start" && event.step.type === "function_call") {
      telling.callPiece(event.index, event.step.name, "");
    }
    if (event.event_type === "step.start" && event.step.type === "google_search_call") {
      for (const query of event.step.arguments.queries ?? []) telling.search(query);
    }
    if (event.event_type === "step.delta") {
      const { delta } = event;
      if (delta.type === "text") telling.say("text", delta.text);
      if (delta.type === "thought_summary" && delta.content?.type === "text")
        telling.say("reasoning", delta.content.text);
      if (delta.type === "arguments_delta") telling.callPiece(event.index, "", delta.arguments);
      if (delta.type === "google_search_call")
        for (const query of delta.arguments?.queries ?? []) telling.search(query);
    }
    if (event.event_type === "interaction.completed") end(event.interaction);
  }
  return telling.done();
}

export const GEMINI_WORDS = {
  stop: "STOP",
  calls: "FUNCTION_CALL",
  length: "MAX_TOKENS",
  filtered: "SAFETY",
  refused: "SAFETY",
};

export const googleSdks: readonly Sdk[] = [
  {
    name: "@google/genai: gemini",
    finish: GEMINI_WORDS,
    // Of Vertex AI it is told.
    hides: ["refusal"],
    ask: (url, prompt, streamed) => content(geminiAt(url), prompt, streamed),
  },
  {
    name: "@google/genai: vertex",
    finish: GEMINI_WORDS,
    ask: (url, prompt, streamed) => {
      const client = new GoogleGenAI({
        vertexai: true,
        project: "p-1",
        location: "europe-west1",
        httpOptions: { baseUrl: url, retryOptions: noRetry },
        googleAuthOptions: { authClient: googleAuth },
      });
      return content(client, prompt, streamed);
    },
  },
  {
    name: "@google/genai: interactions",
    finish: { stop: "completed", calls: "requires_action", length: "incomplete", filtered: "failed" },
    refusesInText: true,
    ask: interaction,
  },
];
