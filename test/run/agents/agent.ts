// The agent of docs/running-a-command.md: it asks, runs the tool that is asked for, and tells the answer as it arrives.
import OpenAI from "openai";

const client = new OpenAI();
const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: "function",
    function: {
      name: "get_weather",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
];
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "What is the weather in Paris?" }];

for (let turn = 0; turn < 2; turn++) {
  const stream = await client.chat.completions.create({
    model: "gpt-4o-mini",
    messages,
    tools,
    stream: true,
    stream_options: { include_usage: true },
  });
  const call = { id: "", type: "function" as const, function: { name: "", arguments: "" } };
  for await (const { choices } of stream) {
    const delta = choices[0]?.delta;
    if (delta?.content) process.stdout.write(delta.content);
    for (const part of delta?.tool_calls ?? []) {
      call.id ||= part.id ?? "";
      call.function.name ||= part.function?.name ?? "";
      call.function.arguments += part.function?.arguments ?? "";
    }
  }
  if (call.id === "") break;
  const { city } = JSON.parse(call.function.arguments) as { city: string };
  console.log(`[${call.function.name} ${city}]`);
  messages.push(
    { role: "assistant", tool_calls: [call] },
    { role: "tool", tool_call_id: call.id, content: `18 degrees in ${city}` },
  );
}
console.log();
