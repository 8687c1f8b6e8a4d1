import { generateText, streamText } from "ai";

/** What the AI SDK makes of an answer, whole and streamed. */
export async function wholeAndStreamed(call: Parameters<typeof generateText>[0] & Parameters<typeof streamText>[0]) {
  const whole = await generateText(call);
  const streamed = streamText(call);
  await streamed.consumeStream();
  return [
    whole,
    {
      text: await streamed.text,
      reasoningText: await streamed.reasoningText,
      toolCalls: await streamed.toolCalls,
      finishReason: await streamed.finishReason,
      usage: await streamed.usage,
      providerMetadata: await streamed.providerMetadata,
    },
  ];
}
