import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChatResponse } from "../src/fixtures/types.ts";
import { StuntDouble } from "../src/index.ts";
import { type ProviderCall, providerCalls, sendCall, type WireAnswer } from "./support/provider-calls.ts";

/**
 * The provider matrix of docs/providers.md, cell by cell: a *Yes* there is this text here, in the bytes of the whole
 * reply and in those of the stream, and a `--` is nothing of it.
 */
interface Row {
  operation: string;
  framing: string;
  /** Where one text stands in both forms it is written once, else first as whole and then as streamed. */
  text: Shown;
  call?: Shown;
  reasoning?: Shown;
  webSearch?: Shown;
  /** Of each override what is seen of it; what is not named here must not be seen. */
  overrides: Partial<Record<keyof typeof OVERRIDES, Shown>>;
  blocks: "kept" | "streamed" | "--";
}
type Shown = string | [whole: string, streamed: string];

const CALL = { id: "call_beta", name: "beta", arguments: { gamma: "delta" } };
const OVERRIDES = {
  id: { value: { id: "own-id" }, mark: "own-id" },
  created: { value: { created: 1234567890 }, mark: /1234567890|2009-02-13T23:31:30/ },
  model: { value: { model: "own-model" }, mark: "own-model" },
  usage: { value: { usage: { prompt_tokens: 1111, completion_tokens: 222 } }, mark: "1111" },
  finishReason: { value: { finishReason: "length" }, mark: /"(length|max_tokens|incomplete)"/i },
  role: { value: { role: "own-role" }, mark: "own-role" },
  systemFingerprint: { value: { systemFingerprint: "own-print" }, mark: "own-print" },
  serviceTier: { value: { serviceTier: "own-tier" }, mark: "own-tier" },
  provider: { value: { provider: "own-provider" }, mark: "own-provider" },
  nativeFinishReason: { value: { nativeFinishReason: "own-reason" }, mark: "own-reason" },
  "usage.cost": { value: { usage: { cost: 0.0421 } }, mark: "0.0421" },
  "usage.is_byok": { value: { usage: { is_byok: true } }, mark: "is_byok" },
} satisfies Record<string, { value: Partial<ChatResponse>; mark: string | RegExp }>;

const SSE = "text/event-stream; charset=utf-8";
const BINARY = "application/vnd.amazon.eventstream";

function completions(operation: string, reasoning: Shown, more: Partial<Row> = {}): Row {
  return {
    operation,
    framing: SSE,
    text: '"content":"alpha"',
    call: '"function":{"name":"beta","arguments":"{\\"gamma\\":\\"delta\\"}"}',
    reasoning,
    blocks: "streamed",
    ...more,
    overrides: {
      id: '"id":"own-id"',
      created: '"created":1234567890',
      model: '"model":"own-model"',
      usage: '"usage":{"prompt_tokens":1111,"completion_tokens":222,"total_tokens":1333',
      finishReason: '"finish_reason":"length"',
      role: '"role":"own-role"',
      systemFingerprint: '"system_fingerprint":"own-print"',
      serviceTier: '"service_tier":"own-tier"',
      ...more.overrides,
    },
  };
}

/** Its calls begin with a name and no arguments. */
const piecewise: Shown = [
  '"function":{"name":"beta","arguments":"{\\"gamma\\":\\"delta\\"}"}',
  '"arguments":"{\\"gamma\\":\\"delta\\"}"',
];
const content = '"reasoning_content":"epsilon"';
const plain = '"reasoning":"epsilon"';

function claude(operation: string, framing = SSE): Row {
  return {
    operation,
    framing,
    text: ['{"type":"text","text":"alpha"', '{"type":"text_delta","text":"alpha"}'],
    call: [
      '"name":"beta","input":{"gamma":"delta"}',
      '{"type":"input_json_delta","partial_json":"{\\"gamma\\":\\"delta\\"}"}',
    ],
    reasoning: ['{"type":"thinking","thinking":"epsilon"', '{"type":"thinking_delta","thinking":"epsilon"}'],
    webSearch: ['"name":"web_search","input":{"query":"zeta"}', '"partial_json":"{\\"query\\":\\"zeta\\"}"'],
    overrides: {
      id: '"id":"own-id"',
      model: '"model":"own-model"',
      usage: '"input_tokens":1111',
      finishReason: '"stop_reason":"max_tokens"',
      role: '"role":"own-role"',
      serviceTier: '"service_tier":"own-tier"',
    },
    blocks: "kept",
  };
}

/** Of the tier only the head tells, where the body is the model's own. */
const TIER_IN_HEAD = "x-amzn-bedrock-service-tier: own-tier";

function nova(operation: string, serviceTier: Shown): Row {
  return {
    operation,
    framing: BINARY,
    text: '{"text":"alpha"}',
    call: ['"name":"beta","input":{"gamma":"delta"}', '"toolUse":{"input":"{\\"gamma\\":\\"delta\\"}"}'],
    reasoning: ['"reasoningText":{"text":"epsilon"', '"reasoningContent":{"text":"epsilon"}'],
    overrides: {
      usage: '"usage":{"inputTokens":1111,"outputTokens":222',
      finishReason: '"stopReason":"max_tokens"',
      role: '"role":"own-role"',
      serviceTier,
    },
    blocks: "kept",
  };
}

/** Models that continue a text call tools by writing JSON. */
function continued(operation: string, text: string, overrides: Row["overrides"]): Row {
  const written = '{\\"name\\": \\"beta\\", \\"parameters\\": {\\"gamma\\":\\"delta\\"}}';
  // In pieces of twenty characters.
  const all = { ...overrides, serviceTier: TIER_IN_HEAD };
  return { operation, framing: BINARY, text, call: [written, '\\"beta\\"'], overrides: all, blocks: "kept" };
}

function responses(operation: string, more: Row["overrides"] = {}): Row {
  return {
    operation,
    framing: SSE,
    text: ['"text":"alpha"', '"delta":"alpha"'],
    call: '"arguments":"{\\"gamma\\":\\"delta\\"}"',
    reasoning: ['"summary":[{"type":"summary_text","text":"epsilon"}]', '"delta":"epsilon"'],
    webSearch: '"action":{"type":"search","query":"zeta"',
    overrides: {
      id: '"id":"own-id"',
      created: '"created_at":1234567890',
      model: '"model":"own-model"',
      usage: '"usage":{"input_tokens":1111',
      finishReason: '"status":"incomplete"',
      role: '"role":"own-role"',
      serviceTier: '"service_tier":"own-tier"',
      ...more,
    },
    blocks: "kept",
  };
}

function ollama(operation: string, text: string, role?: Shown): Row {
  return {
    operation,
    framing: "application/x-ndjson",
    text,
    call: '"name":"beta","arguments":{"gamma":"delta"}',
    reasoning: '"thinking":"epsilon"',
    overrides: {
      created: '"created_at":"2009-02-13T23:31:30.000Z"',
      model: '"model":"own-model"',
      usage: '"prompt_eval_count":1111',
      finishReason: '"done_reason":"length"',
      ...(role !== undefined && { role }),
    },
    blocks: "streamed",
  };
}

const { role: _, ...textOverrides } = completions("", plain).overrides;
const onBedrock = completions("bedrock-invoke-openai", content, { framing: BINARY, call: piecewise });

const rows: Row[] = [
  completions("openai-chat", content, { call: piecewise }),
  responses("openai-responses"),
  { operation: "openai-completions", framing: SSE, text: '"text":"alpha"', overrides: textOverrides, blocks: "--" },
  claude("anthropic-messages"),
  claude("vertex-anthropic-messages"),
  {
    operation: "gemini-generate",
    framing: SSE,
    text: '{"text":"alpha"}',
    call: '"name":"beta","args":{"gamma":"delta"}',
    reasoning: '{"text":"epsilon","thought":true}',
    webSearch: '"groundingMetadata":{"webSearchQueries":["zeta"]}',
    overrides: {
      id: '"responseId":"own-id"',
      created: '"createTime":"2009-02-13T23:31:30.000Z"',
      model: '"modelVersion":"own-model"',
      usage: '"promptTokenCount":1111',
      finishReason: '"finishReason":"MAX_TOKENS"',
      role: '"role":"own-role"',
      serviceTier: '"serviceTier":"own-tier"',
    },
    blocks: "kept",
  },
  {
    operation: "gemini-interactions",
    framing: SSE,
    text: ['{"type":"text","text":"alpha"}', '"text":"alpha"'],
    call: ['"name":"beta","arguments":{"gamma":"delta"}', '\\"gamma\\":\\"delta\\"'],
    reasoning: ['"summary":[{"type":"text","text":"epsilon"}]', '"text":"epsilon"'],
    webSearch: '"queries":["zeta"]',
    overrides: {
      id: '"id":"own-id"',
      created: '"created":"2009-02-13T23:31:30.000Z"',
      model: '"model":"own-model"',
      usage: '"total_input_tokens":1111',
      finishReason: '"status":"incomplete"',
      serviceTier: '"service_tier":"own-tier"',
    },
    blocks: "kept",
  },
  nova("bedrock-converse", '"serviceTier":{"type":"own-tier"}'),
  claude("bedrock-invoke-anthropic", BINARY),
  nova("bedrock-invoke-nova", TIER_IN_HEAD),
  onBedrock,
  continued("bedrock-invoke-llama", '"generation":"alpha', {
    usage: '"prompt_token_count":1111',
    finishReason: '"stop_reason":"length"',
  }),
  continued("bedrock-invoke-mistral", '"outputs":[{"text":"alpha', {
    usage: ["x-amzn-bedrock-input-token-count: 1111", '"inputTokenCount":1111'],
    finishReason: '"stop_reason":"length"',
  }),
  continued("bedrock-invoke-titan", '"outputText":"alpha', {
    usage: '"inputTextTokenCount":1111',
    finishReason: '"completionReason":"LENGTH"',
  }),
  completions("azure-chat", content, { call: piecewise }),
  { operation: "azure-completions", framing: SSE, text: '"text":"alpha"', overrides: textOverrides, blocks: "--" },
  responses("azure-responses"),
  ollama("ollama-chat", '"content":"alpha"', '"role":"own-role"'),
  ollama("ollama-generate", '"response":"alpha"'),
  completions("ollama-openai-chat", plain, { call: piecewise }),
  {
    operation: "cohere-chat",
    framing: SSE,
    text: '"text":"alpha"',
    call: [
      '"function":{"name":"beta","arguments":"{\\"gamma\\":\\"delta\\"}"}',
      '"arguments":"{\\"gamma\\":\\"delta\\"}"',
    ],
    reasoning: '"thinking":"epsilon"',
    overrides: {
      id: '"id":"own-id"',
      usage: '"tokens":{"input_tokens":1111,"output_tokens":222}',
      finishReason: '"finish_reason":"MAX_TOKENS"',
      role: '"role":"own-role"',
    },
    blocks: "streamed",
  },
  completions("openrouter-chat", plain, {
    call: piecewise,
    overrides: {
      provider: '"provider":"own-provider"',
      nativeFinishReason: '"native_finish_reason":"own-reason"',
      "usage.cost": '"cost":0.0421',
      "usage.is_byok": '"is_byok":true',
    },
  }),
  responses("openrouter-responses", { "usage.cost": '"cost":0.0421', "usage.is_byok": '"is_byok":true' }),
  completions("mistral-chat", '"thinking":[{"type":"text","text":"epsilon"}]', { text: "alpha" }),
  completions("groq-chat", plain),
  completions("deepseek-chat", content, { call: piecewise }),
  completions("xai-chat", content),
  responses("xai-responses"),
  ...["perplexity", "zai"].map((name) => completions(`${name}-chat`, content, { call: piecewise })),
  ...["cerebras", "together", "huggingface"].map((name) => completions(`${name}-chat`, plain, { call: piecewise })),
];

let double: StuntDouble;
const responsesByPrompt: Record<string, ChatResponse> = {
  text: { content: "alpha" },
  call: { toolCalls: [CALL] },
  both: { content: "alpha", toolCalls: [CALL] },
  reasoning: { content: "alpha", reasoning: "epsilon" },
  webSearch: { content: "alpha", webSearches: ["zeta"] },
  blocks: {
    blocks: [
      { type: "toolCall", name: "eins", arguments: {} },
      { type: "text", text: "zwei" },
      { type: "toolCall", name: "drei", arguments: {} },
      { type: "text", text: "vier" },
    ],
  },
  broken: { content: "alpha", finishReason: "length", streamError: { message: "omega", status: 503 } },
  ...Object.fromEntries(
    Object.entries(OVERRIDES).map(([name, { value }]) => [`own ${name}`, { content: "alpha", ...value }]),
  ),
};
beforeAll(async () => {
  double = await StuntDouble.start();
  for (const [prompt, response] of Object.entries(responsesByPrompt)) {
    double.on({ userMessage: { equals: prompt } }, response);
  }
});
afterAll(() => double.stop());

async function bothForms(call: ProviderCall, prompt: string): Promise<WireAnswer[]> {
  const forms = [await sendCall(double.fetch, call, prompt, false), await sendCall(double.fetch, call, prompt, true)];
  expect(forms.map(({ status }) => status)).toEqual([200, 200]);
  return forms;
}

function expectShown(forms: WireAnswer[], shown: Shown): void {
  const [whole, streamed] = Array.isArray(shown) ? shown : [shown, shown];
  expect(told(forms[0]!)).toContain(whole);
  expect(told(forms[1]!)).toContain(streamed);
}

const told = ({ head, text }: WireAnswer): string => `${head}\n${text}`;

function expectHidden(forms: WireAnswer[], mark: string): void {
  for (const { text } of forms) expect(text).not.toContain(mark);
}

/** The cells of the document, by the column's title. */
const documented = new Map<string, Record<string, string>>();
const lines = readFileSync("docs/providers.md", "utf8").split("\n");
const head = lines.findIndex((line) => line.startsWith("| provider"));
const cellsOf = (line: string): string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
for (const line of lines.slice(head + 2)) {
  if (!line.startsWith("|")) break;
  const cells = cellsOf(line);
  documented.set(cells[0]!, Object.fromEntries(cellsOf(lines[head]!).map((title, index) => [title, cells[index]!])));
}
const yes = (shown: unknown): string => (shown === undefined ? "--" : "Yes");

it("has a row of every provider", () => {
  expect(rows.map(({ operation }) => operation)).toEqual(providerCalls.map(({ operation }) => operation));
  expect([...documented.keys()]).toEqual(providerCalls.map(({ title }) => title));
});

it("keeps a JSON array that breaks off whole", async () => {
  const body = JSON.stringify({ contents: [{ role: "user", parts: [{ text: "broken" }] }] });
  const path = "/v1beta/models/gemini-2.5-flash:streamGenerateContent";
  const response = await double.fetch(`http://double${path}`, { method: "POST", body });
  expect(await response.json()).toMatchObject([
    { candidates: [{ content: { parts: [{ text: "alpha" }] } }] },
    { error: { code: 503, message: "omega", status: "UNAVAILABLE" } },
  ]);
});

describe.each(
  rows.map((row) => ({
    ...row,
    call: providerCalls.find(({ operation }) => operation === row.operation)!,
    calls: row.call,
  })),
)("$call.title", ({ call, calls, framing, text, reasoning, webSearch, overrides, blocks }) => {
  const cell = documented.get(call.title)!;

  it("text", async () => {
    expectShown(await bothForms(call, "text"), text);
    expect(cell["Text"]).toBe("Yes");
  });

  it("tool calls", async () => {
    const forms = await bothForms(call, "call");
    if (calls === undefined) expectHidden(forms, "beta");
    else expectShown(forms, calls);
    expect(cell["Tool calls"]).toBe(yes(calls));
  });

  it("content and tool calls", async () => {
    const forms = await bothForms(call, "both");
    expectShown(forms, text);
    for (const form of forms) expect(form.text.includes("beta")).toBe(calls !== undefined);
    expect(cell["Content + tool calls"]).toBe(yes(calls));
  });

  it("streaming", async () => {
    const [, { contentType, text: body }] = (await bothForms(call, "text")) as [WireAnswer, WireAnswer];
    expect(contentType).toBe(framing);
    if (framing === SSE) expect(body).toMatch(/^((event: .+\n)?data: .+\n\n)+$/);
    else if (framing === BINARY) expect(body).toMatch(/:event-type/);
    else for (const line of body.trimEnd().split("\n")) expect(JSON.parse(line)).toBeTypeOf("object");
    expect(cell["Streaming"]).toBe({ [SSE]: "SSE", [BINARY]: "Binary" }[framing] ?? "NDJSON");
  });

  it("reasoning", async () => {
    const forms = await bothForms(call, "reasoning");
    expectShown(forms, text);
    if (reasoning === undefined) expectHidden(forms, "epsilon");
    else expectShown(forms, reasoning);
    expect(cell["Reasoning"]).toBe(yes(reasoning));
  });

  it("web searches", async () => {
    const forms = await bothForms(call, "webSearch");
    expectShown(forms, text);
    if (webSearch === undefined) expectHidden(forms, "zeta");
    else expectShown(forms, webSearch);
    expect(cell["Web searches"]).toBe(yes(webSearch));
  });

  it.each(Object.entries(OVERRIDES))("override of %s", async (name, { mark }) => {
    const forms = await bothForms(call, `own ${name}`);
    const shown = overrides[name as keyof typeof OVERRIDES];
    if (shown !== undefined) expectShown(forms, shown);
    else if (name !== "finishReason") for (const form of forms) expect(told(form)).not.toMatch(mark);
    expect((cell["Overrides"] ?? "").includes(`\`${name}\``)).toBe(shown !== undefined);
  });

  it("block order", async () => {
    const order = (await bothForms(call, "blocks")).map(({ text: body }) => {
      const places = ["eins", "zwei", "drei", "vier"].map((mark) => body.indexOf(mark));
      return !places.includes(-1) && places.every((place, index) => index === 0 || place > places[index - 1]!);
    });
    expect(order).toEqual([blocks === "kept", blocks !== "--"]);
    expect(cell["Block order"]).toBe(blocks);
  });

  it("an error in mid-stream comes after what was said, in the place of an end", async () => {
    const [whole, streamed] = [
      await sendCall(double.fetch, call, "broken", false),
      await sendCall(double.fetch, call, "broken", true),
    ];
    expect([whole.status, whole.text.includes("omega"), whole.text.includes("alpha")]).toEqual([503, true, false]);
    expect(streamed.text.indexOf("alpha")).toBeGreaterThan(0);
    expect(streamed.text.lastIndexOf("omega")).toBeGreaterThan(streamed.text.lastIndexOf("alpha"));
    const { finishReason } = overrides;
    expectHidden([streamed], Array.isArray(finishReason) ? finishReason[1] : finishReason!);
    expect(cell["Errors in mid-stream"]).toBe("event");
  });
});
