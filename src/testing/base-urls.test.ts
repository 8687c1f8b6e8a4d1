import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { StuntDouble } from "../server/double.ts";
import { providerNames } from "../upstream/providers.ts";
import { BASE_URL_VARIABLES, LANGUAGES, patchEnvironment } from "./base-urls.ts";

let double: StuntDouble;
let restore: () => void;
beforeEach(async () => {
  double = await StuntDouble.start({
    fixtures: [{ match: { userMessage: "hello" }, response: { content: "Hi!" } }],
  });
  restore = patchEnvironment(double.url);
});
afterEach(async () => {
  restore();
  await double.stop();
});

const messages = [{ role: "user" as const, content: "hello" }];
const CLIENTS: Record<string, () => Promise<unknown>> = {
  openai: async () => {
    const { default: OpenAI } = await import("openai");
    const reply = await new OpenAI({ apiKey: "x" }).chat.completions.create({ model: "gpt-4o", messages });
    return reply.choices[0]?.message.content;
  },
  "@anthropic-ai/sdk": async () => {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const reply = await new Anthropic({ apiKey: "x" }).messages.create({ model: "claude", max_tokens: 9, messages });
    return reply.content[0]?.type === "text" && reply.content[0].text;
  },
  "@ai-sdk/openai": async () => {
    const [{ createOpenAI }, { generateText }] = await Promise.all([import("@ai-sdk/openai"), import("ai")]);
    const model = createOpenAI({ apiKey: "x" }).chat("gpt-4o");
    return (await generateText({ model, prompt: "hello" })).text;
  },
  "@ai-sdk/anthropic": async () => {
    const [{ createAnthropic }, { generateText }] = await Promise.all([import("@ai-sdk/anthropic"), import("ai")]);
    return (await generateText({ model: createAnthropic({ apiKey: "x" })("claude"), prompt: "hello" })).text;
  },
  "openai (AzureOpenAI)": async () => {
    const { AzureOpenAI } = await import("openai");
    const client = new AzureOpenAI({ apiKey: "x", apiVersion: "2024-10-21" });
    const reply = await client.chat.completions.create({ model: "gpt-4o", messages });
    return reply.choices[0]?.message.content;
  },
  "@langchain/openai": async () => {
    const { ChatOpenAI } = await import("@langchain/openai");
    return (await new ChatOpenAI({ apiKey: "x", model: "gpt-4o" }).invoke("hello")).content;
  },
  "@langchain/openai, with Azure": async () => {
    const { AzureChatOpenAI } = await import("@langchain/openai");
    const azure = { azureOpenAIApiKey: "x", azureOpenAIApiDeploymentName: "d", azureOpenAIApiVersion: "2024-10-21" };
    return (await new AzureChatOpenAI(azure).invoke("hello")).content;
  },
  "@ai-sdk/amazon-bedrock": async () => {
    const [{ createAmazonBedrock }, { generateText }] = await Promise.all([
      import("@ai-sdk/amazon-bedrock"),
      import("ai"),
    ]);
    const bedrock = createAmazonBedrock({ region: "us-east-1", accessKeyId: "x", secretAccessKey: "y" });
    return (await generateText({ model: bedrock("anthropic.claude-v2"), prompt: "hello" })).text;
  },
  "@anthropic-ai/vertex-sdk": async () => {
    const { AnthropicVertex } = await import("@anthropic-ai/vertex-sdk");
    const authClient = { getRequestHeaders: async () => new Headers({ authorization: "Bearer x" }) } as never;
    const client = new AnthropicVertex({ region: "us-east5", projectId: "p", authClient });
    const reply = await client.messages.create({ model: "claude-sonnet-4-5", max_tokens: 9, messages });
    return reply.content[0]?.type === "text" && reply.content[0].text;
  },
  "@google/genai": async () => {
    const { GoogleGenAI } = await import("@google/genai");
    const asked = { model: "gemini-2.5-flash", contents: "hello" };
    return (await new GoogleGenAI({ apiKey: "x" }).models.generateContent(asked)).text;
  },
  "groq-sdk": async () => {
    const { default: Groq } = await import("groq-sdk");
    const reply = await new Groq({ apiKey: "x" }).chat.completions.create({ model: "llama", messages });
    return reply.choices[0]?.message.content;
  },
  "@anthropic-ai/bedrock-sdk": async () => {
    const { default: AnthropicBedrock } = await import("@anthropic-ai/bedrock-sdk");
    const client = new AnthropicBedrock({ awsRegion: "us-east-1", awsAccessKey: "x", awsSecretKey: "y" });
    const reply = await client.messages.create({ model: "anthropic.claude-v2", max_tokens: 9, messages });
    return reply.content[0]?.type === "text" && reply.content[0].text;
  },
  "@aws-sdk/client-bedrock-runtime": async () => {
    const { BedrockRuntimeClient, ConverseCommand } = await import("@aws-sdk/client-bedrock-runtime");
    const client = new BedrockRuntimeClient({
      region: "us-east-1",
      credentials: { accessKeyId: "x", secretAccessKey: "y" },
    });
    const asked = new ConverseCommand({
      modelId: "anthropic.claude-v2",
      messages: [{ role: "user", content: [{ text: "hello" }] }],
    });
    const reply = await client.send(asked);
    client.destroy();
    return reply.output?.message?.content?.[0]?.text;
  },
};

test.each(Object.keys(CLIENTS))("%s finds the double by itself", async (name) => {
  expect(await CLIENTS[name]!()).toBe("Hi!");
  expect(double.calls()).toHaveLength(1);
});

test("puts everything back as it was", () => {
  restore();
  const before = { ...process.env };
  process.env["OPENAI_BASE_URL"] = "http://before";
  const again = patchEnvironment("http://double");
  expect(process.env["OPENAI_BASE_URL"]).toBe("http://double/v1");
  expect(process.env["GROQ_BASE_URL"]).toBe("http://double/groq");
  again();
  expect(process.env["OPENAI_BASE_URL"]).toBe("http://before");
  delete process.env["OPENAI_BASE_URL"];
  expect(process.env).toEqual(before);
});

test.each(BASE_URL_VARIABLES)("$name leads to $provider, recorded and replayed", ({ path, provider }) => {
  expect(providerNames).toContain(provider);
  const name = path.split("/")[1]!;
  // A provider's name in a path says where the call goes; other paths are the provider's own.
  expect(providerNames.includes(name) && name !== "openai" ? name : provider).toBe(provider);
});

test("docs/running-a-command.md lists them", () => {
  const page = readFileSync(new URL("../../docs/running-a-command.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` *\| `<url>(\S*)` *\| (.*?) *\|$/gm)];
  expect(rows.map(([, name, path, readBy]) => ({ name, path, readBy }))).toEqual(
    BASE_URL_VARIABLES.map(({ name, path, readBy }) => ({
      name,
      path,
      readBy: LANGUAGES.flatMap((language) => {
        const readers = readBy[language];
        return readers === undefined ? [] : [`${language}: ${readers.join(", ")}`];
      }).join("; "),
    })),
  );
});

test("no variable is listed twice", () => {
  const names = BASE_URL_VARIABLES.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
