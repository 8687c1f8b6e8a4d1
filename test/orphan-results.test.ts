import { expect, test } from "vitest";
import { StuntDouble } from "../src/index.ts";

const double = new StuntDouble({
  fixtures: [
    { match: { toolCallId: "call_9", toolResultContains: "Fog", hasToolResult: true }, response: { content: "Mist." } },
  ],
});

const openai = { model: "m", messages: [{ role: "tool", tool_call_id: "call_9", content: "Fog." }] };
const responses = { model: "m", input: [{ type: "function_call_output", call_id: "call_9", output: "Fog." }] };
const claude = {
  model: "claude",
  anthropic_version: "x",
  max_tokens: 5,
  messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "call_9", content: "Fog." }] }],
};
const gemini = {
  contents: [
    { role: "user", parts: [{ functionResponse: { id: "call_9", name: "weather", response: { is: "Fog." } } }] },
  ],
};
const converse = {
  messages: [{ role: "user", content: [{ toolResult: { toolUseId: "call_9", content: [{ text: "Fog." }] } }] }],
};

// Providers refuse most of these (Ollama takes them). Tests that begin in the middle of a tool loop are written like
// this all the same, and ran against aimock, so that they are answered, by fixtures for the result.
test.each([
  ["/v1/chat/completions", openai],
  ["/openai/deployments/d/chat/completions", openai],
  ["/api/v1/chat/completions", openai],
  ["/mistral/v1/chat/completions", openai],
  ["/v1/responses", responses],
  ["/api/v1/responses", responses],
  ["/v1/messages", claude],
  ["/v1/projects/p/locations/l/publishers/anthropic/models/c:rawPredict", claude],
  ["/model/anthropic.claude-sonnet-4/invoke", claude],
  ["/model/amazon.nova-pro-v1:0/converse", converse],
  ["/model/amazon.nova-pro-v1:0/invoke", converse],
  ["/v1beta/models/m:generateContent", gemini],
  [
    "/v1beta/interactions",
    { model: "m", input: [{ type: "function_result", call_id: "call_9", name: "weather", result: "Fog." }] },
  ],
  ["/api/chat", { ...openai, stream: false }],
  ["/v2/chat", openai],
])("%s: the result of a call that nobody has made is answered like any other", async (path, body) => {
  const response = await double.fetch(`http://double${path}`, { method: "POST", body: JSON.stringify(body) });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"Mist."')]);
});
