import { expect, test } from "vitest";
import { callOf } from "../../src/dialects/call.ts";
import { RawRequest } from "../../src/dialects/raw-request.ts";
import { Router } from "../../src/server/router.ts";
import { dialects } from "../../src/services/registry.ts";
import { LocalMemory } from "../../src/state/memory.ts";
import { targetOf } from "../../src/upstream/target.ts";

const router = new Router(dialects);

/** Where a chat goes whose client was given a base URL with this path and adds that one. */
function goesTo(base: string, added: string, urls: Record<string, string> = {}, headers = {}): string {
  const said = { messages: [{ role: "user", content: "hi" }], input: "hi" };
  const body = Buffer.from(JSON.stringify({ model: "m", max_tokens: 1, anthropic_version: "any", ...said }));
  const raw = new RawRequest("POST", `${base}${added}`, { host: "127.0.0.1:4010", ...headers }, body);
  const { operation } = router.find(raw)!;
  const { origin, path } = targetOf(callOf(operation, raw, new LocalMemory()), new Map(Object.entries(urls)));
  return origin + path;
}

test.each([
  ["/v1", "/chat/completions", "https://api.openai.com/v1/chat/completions"],
  ["/v1", "/messages", "https://api.anthropic.com/v1/messages"],
  ["/v1", "/v1/messages", "https://api.anthropic.com/v1/messages"],
  ["/@checkout/v1", "/v1/messages", "https://api.anthropic.com/v1/messages"],
  ["/groq", "/openai/v1/chat/completions", "https://api.groq.com/openai/v1/chat/completions"],
  ["/groq/openai/v1", "/openai/v1/chat/completions", "https://api.groq.com/openai/v1/chat/completions"],
  ["/groq/openai/v1", "/chat/completions", "https://api.groq.com/openai/v1/chat/completions"],
  ["/mistral/v1", "/chat/completions", "https://api.mistral.ai/v1/chat/completions"],
  ["/openrouter/api/v1", "/chat/completions", "https://openrouter.ai/api/v1/chat/completions"],
  ["/fireworks/inference/v1", "/chat/completions", "https://api.fireworks.ai/inference/v1/chat/completions"],
  ["/@a%20b/deepseek/v1", "/chat/completions", "https://api.deepseek.com/v1/chat/completions"],
  ["/cerebras", "/v1/chat/completions", "https://api.cerebras.ai/v1/chat/completions"],
])("a base URL with %s and a client that adds %s reach %s", (base, added, target) => {
  expect(goesTo(base, added)).toBe(target);
});

test("a gateway's own path stays before it", () => {
  expect(goesTo("/v1", "/chat/completions", { openai: "https://gateway.test/team/v1" })).toBe(
    "https://gateway.test/team/v1/chat/completions",
  );
});

test("Azure's client for JavaScript reaches Azure, although it reads OpenAI's variable", () => {
  const azure = { azure: "https://me.openai.azure.com" };
  expect(goesTo("/@s/v1", "/deployments/d/chat/completions?api-version=1", azure, { "api-key": "x" })).toBe(
    "https://me.openai.azure.com/openai/deployments/d/chat/completions?api-version=1",
  );
});

// Whose form a body has says nothing of who serves the model.
test.each([
  ["/model/anthropic.claude-sonnet-4-v1:0/invoke", "https://bedrock-runtime.eu-west-1.amazonaws.com"],
  ["/model/openai.gpt-oss-120b-1:0/invoke", "https://bedrock-runtime.eu-west-1.amazonaws.com"],
  ["/api/v1/responses", "https://openrouter.ai/api"],
  ["/openai/v1/responses", "https://me.openai.azure.com"],
])("%s goes to %s", (path, origin) => {
  const urls = { azure: "https://me.openai.azure.com", bedrock: "https://bedrock-runtime.eu-west-1.amazonaws.com" };
  const headers = path.startsWith("/openai/") ? { "user-agent": "AsyncAzureOpenAI/Python 2.1.0" } : {};
  expect(goesTo("", path, urls, headers).startsWith(origin)).toBe(true);
});
