import type { ChatReply } from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { ChatView } from "../../chat/view.ts";
import { encodeUsage as anthropicUsage, encodeMessage } from "../anthropic/response.ts";
import { anthropicRules } from "../anthropic/rules.ts";
import { encodeMessageStream } from "../anthropic/stream.ts";
import { ANTHROPIC } from "../anthropic-blocks/response.ts";
import { askedTo, bedrockCommon } from "../bedrock/common.ts";
import { BEDROCK_CONVERSE, type ConverseVariant, encodeConverse, encodeUsage } from "../bedrock-converse/response.ts";
import { converseRules } from "../bedrock-converse/rules.ts";
import { encodeConverseStream } from "../bedrock-converse/stream.ts";
import { OPENAI_CHAT } from "../openai-chat/flavour.ts";
import { type ChatVariant, encodeChatResponse, encodeUsage as openaiUsage } from "../openai-chat/response.ts";
import { openaiChatRules } from "../openai-chat/rules.ts";
import { encodeChatStream } from "../openai-chat/stream.ts";
import { type Dialect, defineOperation, type WireEvent } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import type { Rules } from "../rules.ts";
import { tokenCountOperation } from "../token-count.ts";
import { decodeCountTokens } from "./count-tokens.ts";
import type { Family } from "./family.ts";
import { invokeHeaders, withMetrics } from "./metrics.ts";
import { decodeInvokeRequest, INVOKE, invokeFamily, STREAMED } from "./request.ts";
import { encodeText, encodeTextStream, llama, mistral, type TextForm, titan } from "./text.ts";

/** What all families have in common: one path, their own bodies on it. */
function invoke(family: Family) {
  return {
    ...bedrockCommon,
    ...askedTo(INVOKE, STREAMED),
    name: `bedrock-invoke-${family}`,
    endpoint: "chat" as const,
    output: "chat" as const,
    claims: (raw: Parameters<typeof invokeFamily>[0]) => invokeFamily(raw) === family,
    decode: decodeInvokeRequest,
    view: (request: ChatRequest) => new ChatView(request),
    streamed: (request: ChatRequest) => request.stream === true,
    encodeHeaders: invokeHeaders,
    framing: "aws-payload-parts" as const,
  };
}

const claude = defineOperation<ChatRequest, ChatReply, Record<string, never>>({
  ...invoke("anthropic"),
  dialect: ANTHROPIC,
  variant: () => ({}),
  encode: encodeMessage,
  encodeStream: (reply, context) => {
    const { input_tokens, output_tokens } = anthropicUsage(reply, context);
    // No pings here.
    const events = encodeMessageStream(reply, context).filter(({ rides }) => !rides);
    return withMetrics(events, input_tokens, output_tokens);
  },
  rules: anthropicRules,
});

const nova = defineOperation<ChatRequest, ChatReply, ConverseVariant>({
  ...invoke("nova"),
  dialect: BEDROCK_CONVERSE,
  variant: () => ({ stopAt: "", tells: false }),
  encode: encodeConverse,
  encodeStream: (reply, context) => {
    const { inputTokens, outputTokens } = encodeUsage(reply, context);
    const events = encodeConverseStream(reply, context).map(
      ({ event, data }): WireEvent => ({ data: { [event!]: data } }),
    );
    return withMetrics(events, inputTokens, outputTokens);
  },
  rules: converseRules,
});

/** OpenAI's open models, Qwen and others; Mistral too, which calls the reason of the end by another name. */
interface OpenAIVariant extends ChatVariant {
  stopReason: boolean;
}

const openai = defineOperation<ChatRequest, ChatReply, OpenAIVariant>({
  ...invoke("openai"),
  dialect: OPENAI_CHAT,
  variant: ({ model }) => ({ choices: 1, usage: true, stopReason: /mi[sx]tral/i.test(model) }),
  encode: (reply, context) => {
    const completion = encodeChatResponse(reply, context);
    return context.variant.stopReason ? withStopReason(completion) : completion;
  },
  encodeStream: (reply, context) => {
    const chunks = encodeChatStream(reply, context).filter(({ raw }) => !raw);
    const { prompt_tokens, completion_tokens } = openaiUsage(reply, context) as JsonObject;
    const events = context.variant.stopReason
      ? chunks.map(({ data }): WireEvent => ({ data: withStopReason(data as JsonObject) }))
      : chunks;
    return withMetrics(events, prompt_tokens, completion_tokens);
  },
  rules: withStopReasonRule(openaiChatRules),
});

function withStopReason(completion: JsonObject): JsonObject {
  const choices = completion["choices"] as JsonObject[];
  return { ...completion, choices: choices.map((choice) => ({ ...choice, stop_reason: choice["finish_reason"] })) };
}

function withStopReasonRule(rules: Rules): Rules {
  return {
    ...rules,
    rules: [...rules.rules, { each: "choices.*", choice: "index", as: "finish", fields: { reason: "stop_reason" } }],
  };
}

function textOperation(family: Family, form: TextForm) {
  return defineOperation<ChatRequest, ChatReply, Record<string, never>>({
    ...invoke(family),
    dialect: form.dialect,
    variant: () => ({}),
    encode: (reply, context) => encodeText(form, reply, context),
    encodeStream: (reply, context) => encodeTextStream(form, reply, context),
    rules: form.rules,
  });
}

const tokenCount = tokenCountOperation({
  ...bedrockCommon,
  ...askedTo("count-tokens"),
  name: "bedrock-count-tokens",
  dialect: BEDROCK_CONVERSE,
  decode: decodeCountTokens,
  encode: ({ tokens }) => ({ inputTokens: tokens }),
});

/** Amazon Bedrock's way to its models in the forms of their makers. */
export const bedrockInvoke: Dialect = {
  name: "bedrock-invoke",
  providers: ["bedrock"],
  operations: [
    claude,
    nova,
    openai,
    textOperation("llama", llama),
    textOperation("mistral", mistral),
    textOperation("titan", titan),
    tokenCount,
  ],
};
