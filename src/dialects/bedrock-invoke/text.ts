import type { ChatReply, Choice, Usage } from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { estimateCompletionTokens, estimatePromptTokens } from "../../chat/tokens.ts";
import type { EncodeContext, WireEvent } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import type { Rules } from "../rules.ts";
import { withMetrics } from "./metrics.ts";

/** How a maker has the replies of models that continue a text and know nothing of messages and tools. */
export interface TextForm {
  dialect: string;
  /** Its words for why a reply ended; the first is for all others. */
  stops: { stop: string; length: string; content_filter: string };
  whole(text: string, stop: string, counts: Counts): JsonObject;
  piece(text: string, first: boolean, counts: Counts): JsonObject;
  last(stop: string, counts: Counts): JsonObject;
  rules: Rules;
}

interface Counts {
  input: number;
  output: number;
}

export function encodeText(form: TextForm, reply: ChatReply, context: EncodeContext): JsonObject {
  return form.whole(textOf(reply), stopOf(form, reply), countsOf(reply, context));
}

export function encodeTextStream(form: TextForm, reply: ChatReply, context: EncodeContext): WireEvent[] {
  const counts = countsOf(reply, context);
  const events = context
    .pieces(textOf(reply))
    .map((piece, index): WireEvent => ({ event: "chunk", data: form.piece(piece, index === 0, counts) }));
  events.push({ event: "chunk", data: form.last(stopOf(form, reply), counts) });
  return withMetrics(events, counts.input, counts.output);
}

/** Such models call a tool by writing JSON. */
function textOf(reply: ChatReply): string {
  let text = "";
  for (const part of reply.choices[0]?.parts ?? []) {
    if (part.type === "text" || part.type === "refusal") text += part.text;
    else if (part.type === "toolCall")
      text += `{"name": ${JSON.stringify(part.name)}, "parameters": ${part.arguments}}`;
  }
  return text;
}

function stopOf({ dialect, stops }: TextForm, reply: ChatReply): string {
  const finish: Choice["finish"] = reply.choices[0]?.finish ?? { reason: "stop" };
  if (finish.native?.dialect === dialect) return finish.native.value;
  switch (finish.reason) {
    case "length":
      return stops.length;
    case "content_filter":
    case "refusal":
      return stops.content_filter;
    default:
      return stops.stop;
  }
}

function countsOf(reply: ChatReply, context: EncodeContext): Counts {
  const usage: Usage = reply.usage ?? {};
  return {
    input: usage.promptTokens ?? context.echo((call) => estimatePromptTokens(call.request as ChatRequest)),
    output: usage.completionTokens ?? estimateCompletionTokens(reply),
  };
}

const METRICS = "amazon-bedrock-invocationMetrics";

const usage: Rules["usage"] = {
  promptTokens: [["prompt_token_count", "inputTextTokenCount", "inputTokenCount"]],
  completionTokens: [["generation_token_count", "tokenCount", "totalOutputTextTokenCount", "outputTokenCount"]],
};

/** @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html */
export const llama: TextForm = {
  dialect: "bedrock-llama",
  stops: { stop: "stop", length: "length", content_filter: "stop" },
  whole: (generation, stop_reason, { input, output }) => ({
    generation,
    prompt_token_count: input,
    generation_token_count: output,
    stop_reason,
  }),
  piece: (generation, first, { input }) => ({
    generation,
    prompt_token_count: first ? input : null,
    generation_token_count: null,
    stop_reason: null,
  }),
  last: (stop_reason, { output }) => ({
    generation: "",
    prompt_token_count: null,
    generation_token_count: output,
    stop_reason,
  }),
  rules: {
    rules: [
      { as: "text", fields: { text: { take: "generation", op: "append" } } },
      { as: "usage", fields: { raw: { take: "", except: ["generation", "stop_reason", METRICS], op: "merge" } } },
      { as: "finish", fields: { reason: "stop_reason" } },
    ],
    usage,
  },
};

/** @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-mistral-text-completion.html */
export const mistral: TextForm = {
  dialect: "bedrock-mistral",
  stops: { stop: "stop", length: "length", content_filter: "stop" },
  whole: (text, stop_reason) => ({ outputs: [{ text, stop_reason }] }),
  piece: (text) => ({ outputs: [{ text, stop_reason: null }] }),
  last: (stop_reason) => ({ outputs: [{ text: "", stop_reason }] }),
  rules: {
    rules: [
      { as: "text", fields: { text: { take: "outputs.0.text", op: "append" } } },
      // A whole reply tells its tokens in headers only.
      { as: "usage", fields: { raw: { take: METRICS, op: "merge" } } },
      { as: "finish", fields: { reason: "outputs.0.stop_reason" } },
    ],
    usage,
  },
};

/** @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-text.html */
export const titan: TextForm = {
  dialect: "bedrock-titan",
  stops: { stop: "FINISH", length: "LENGTH", content_filter: "CONTENT_FILTERED" },
  whole: (outputText, completionReason, { input, output }) => ({
    inputTextTokenCount: input,
    results: [{ tokenCount: output, outputText, completionReason }],
  }),
  piece: (outputText, first, { input }) => ({
    outputText,
    index: 0,
    totalOutputTextTokenCount: null,
    completionReason: null,
    inputTextTokenCount: first ? input : null,
  }),
  last: (completionReason, { output }) => ({
    outputText: "",
    index: 0,
    totalOutputTextTokenCount: output,
    completionReason,
    inputTextTokenCount: null,
  }),
  rules: {
    rules: [
      { as: "text", fields: { text: { take: ["results.0.outputText", "outputText"], op: "append" } } },
      {
        as: "usage",
        fields: {
          raw: { take: "", except: ["outputText", "index", "completionReason", "results", METRICS], op: "merge" },
          "raw.tokenCount": "results.0.tokenCount",
        },
      },
      { as: "finish", fields: { reason: ["results.0.completionReason", "completionReason"] } },
    ],
    finishReasons: {
      FINISH: "stop",
      FINISHED: "stop",
      STOP_CRITERIA_MET: "stop",
      LENGTH: "length",
      CONTENT_FILTERED: "content_filter",
    },
    usage,
  },
};
