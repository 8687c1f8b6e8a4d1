// `npm run docs:providers`: writes docs/providers.md from the registry and from what each provider's wire really
// carries. With --check it only says whether the file is current, as the linting step does.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { runnerImport } from "vite";

const FILE = "docs/providers.md";
const load = async (file) => (await runnerImport(file, { configFile: false, logLevel: "error" })).module;
const { dialects } = await load("./src/services/registry.ts");
const { StuntDouble } = await load("./src/server/double.ts");
const { providerCalls, sendCall } = await load("./test/support/provider-calls.ts");

const double = await StuntDouble.start();
const operations = new Map(dialects.flatMap((dialect) => dialect.operations).map((one) => [one.name, one]));
// Only these begin a chat of their own: the others give again what one of them has answered.
const chats = [...operations.values()].filter(
  ({ endpoint, output, encodeStream }) => endpoint === "chat" && output === "chat" && encodeStream !== undefined,
);
const uncalled = chats.filter(({ name }) => !providerCalls.some(({ operation }) => operation === name));
if (uncalled.length > 0) {
  console.error(`test/support/provider-calls.ts has no call of ${uncalled.map(({ name }) => name).join(", ")}.`);
  process.exit(1);
}

const rows = [];
for (const call of providerCalls) rows.push(await rowOf(call));
await double.stop();

const text = formatted(`# Providers

What Stuntdouble serves. This file is written by \`npm run docs:providers\` from the registry of dialects and from what goes over the wire; do not edit it.

## What each carries

One fixture answers every provider; a provider shows of it what its wire has a place for. *Yes* means whole and streamed alike.

${table(["provider", ...FEATURES().map(({ title }) => title)], rows)}

- **Streaming**: SSE are server-sent events, NDJSON is one JSON object a line, Binary is the AWS event stream. Gemini streams one JSON array where \`alt=sse\` is not asked for.
- **Block order** is that of \`blocks\`: *kept* in whole and streamed replies alike; *streamed* where a whole reply has text and calls in places of their own, so that only the order of arrival tells.
- **Overrides** are the members of a response that stand for what is otherwise made up, as far as the wire has a place for them.
- **Errors in mid-stream** (\`streamError\`): *event* where the provider has an event for one.
- Llama, Mistral and Titan on Bedrock continue a text: a tool call is JSON in it, as these models write it.

## Dialects

Several operations may have one path. A provider's segment before it decides (\`/groq/v1/chat/completions\`, \`/azure/openai/v1/embeddings\`). Without one the request does, and what none of them knows for its own is OpenAI's:

- Clients name their provider in the user agent: \`/v1/chat/completions\` is Groq's to the Groq SDK and Mistral's to \`@ai-sdk/mistral\`. DeepSeek and Perplexity are also known by their models on \`/chat/completions\`.
- Azure is known by the header \`api-key\` too, Anthropic by headers that begin with \`anthropic-\`, Google by those that begin with \`x-goog-\` and by \`?key=\`.
- Amazon Bedrock's \`/invoke\` is told by the model's id, and where that says nothing (an ARN) by the body. \`:predict\` makes embeddings where its instances have a \`content\`. An Ollama call without a prompt loads the model.

${dialects.map(sectionOf).join("\n\n")}
`);

if (process.argv.includes("--check")) {
  let current = "";
  try {
    current = readFileSync(FILE, "utf8");
  } catch {
    // It is stale, then.
  }
  if (current !== text) {
    console.error(`${FILE} is not what the registry says. Run: npm run docs:providers`);
    process.exit(1);
  }
} else writeFileSync(FILE, text);

/** @returns the cells of the matrix: what is asked of a provider, and how the answer is told */
function FEATURES() {
  const CALL = { id: "call_beta", name: "beta", arguments: { gamma: "delta" } };
  return [
    { title: "Text", response: { content: "alpha" }, told: inBoth("alpha") },
    { title: "Tool calls", response: { toolCalls: [CALL] }, told: inBoth("beta", "delta") },
    {
      title: "Content + tool calls",
      response: { content: "alpha", toolCalls: [CALL] },
      told: inBoth("alpha", "beta", "delta"),
    },
    { title: "Streaming", response: { content: "alpha" }, told: framing },
    { title: "Reasoning", response: { content: "alpha", reasoning: "epsilon" }, told: inBoth("epsilon") },
    { title: "Web searches", response: { content: "alpha", webSearches: ["zeta"] }, told: inBoth("zeta") },
    { title: "Overrides", told: overrides },
    { title: "Block order", response: BLOCKS(), told: blockOrder },
    {
      title: "Errors in mid-stream",
      response: { content: "alpha", streamError: { message: "omega" } },
      told: midStream,
    },
  ];
}

function BLOCKS() {
  const call = (name) => ({ type: "toolCall", name, arguments: {} });
  return { blocks: [call("eins"), { type: "text", text: "zwei" }, call("drei"), { type: "text", text: "vier" }] };
}

async function rowOf(call) {
  const ask = async (response, streamed) => {
    double.reset();
    double.on({}, response);
    return sendCall(double.fetch, call, "hello", streamed);
  };
  const cells = [call.title];
  for (const { response, told } of FEATURES())
    cells.push(await told((streamed, other = response) => ask(other, streamed)));
  return cells;
}

function inBoth(...marks) {
  return async (ask) => {
    for (const streamed of [false, true]) {
      const { text } = await ask(streamed);
      if (!marks.every((mark) => text.includes(mark))) return "--";
    }
    return "Yes";
  };
}

async function framing(ask) {
  const { contentType } = await ask(true);
  if (contentType.startsWith("text/event-stream")) return "SSE";
  if (contentType.startsWith("application/x-ndjson")) return "NDJSON";
  return contentType.includes("amazon.eventstream") ? "Binary" : contentType;
}

async function blockOrder(ask) {
  const isKept = ({ text }) => {
    const places = ["eins", "zwei", "drei", "vier"].map((mark) => text.indexOf(mark));
    return places.every((place, index) => place >= 0 && (index === 0 || place > places[index - 1]));
  };
  if (!isKept(await ask(true))) return "--";
  return isKept(await ask(false)) ? "kept" : "streamed";
}

async function midStream(ask) {
  const { status, text } = await ask(true).catch(() => ({ status: 0, text: "" }));
  return status === 200 && text.includes("alpha") && text.includes("omega") ? "event" : "cut";
}

async function overrides(ask) {
  const given = {
    id: ["own-id", /own-id/],
    created: [1234567890, /1234567890|2009-02-13T23:31:30/],
    model: ["own-model", /own-model/],
    usage: [{ prompt_tokens: 1111, completion_tokens: 2222 }, /1111.*2222|2222.*1111/s],
    finishReason: ["length", /"(length|max_tokens|incomplete)"/i],
    role: ["own-role", /own-role/],
    systemFingerprint: ["own-fingerprint", /own-fingerprint/],
    serviceTier: ["own-tier", /own-tier/],
    provider: ["own-provider", /own-provider/],
    nativeFinishReason: ["own-reason", /own-reason/],
    "usage.cost": [{ cost: 0.0421 }, /0\.0421/],
    "usage.is_byok": [{ is_byok: true }, /"is_byok":true/],
  };
  const before = [await ask(false, { content: "alpha" }), await ask(true, { content: "alpha" })];
  const held = [];
  for (const [name, [value, shown]] of Object.entries(given)) {
    const response = { content: "alpha", [name.split(".")[0]]: value };
    const places = [await ask(false, response), await ask(true, response)];
    // A word that is there in any case, as `max_tokens` may be, says nothing of the override.
    const all = ({ head, text }) => `${head}\n${text}`;
    const shows = (index) => shown.test(all(places[index])) && !shown.test(all(before[index]));
    if (shows(0) && shows(1)) held.push(name);
    else if (shows(0) || shows(1)) held.push(`${name} (${shows(1) ? "streamed" : "whole"})`);
  }
  return held.map((name) => `\`${name}\``.replace(/ \((\w+)\)`$/, "` ($1)")).join(", ") || "--";
}

function sectionOf({ name, providers, operations: own }) {
  const rowsOfDialect = own.map((operation) => [
    `\`${operation.name}\``,
    operation.endpoint,
    operation.routes.flatMap(shown).join("<br>"),
    operation.encodeStream === undefined ? "" : framingName(operation),
  ]);
  const segments = providers.map((provider) => `\`/${provider}/…\``).join(", ");
  return `### ${name}\n\nAlso behind ${segments}.\n\n${table(["operation", "endpoint", "paths", "streamed as"], rowsOfDialect)}`;
}

function shown({ method, path, ends }) {
  const paths = ends === undefined ? [path] : ends.map((end) => path.replace("*", `:model/${end}`));
  return paths.map((one) => `\`${method} ${plain(one)}\``);
}

/** Without what only the router needs; it doubles a colon that is one (`:model::generateContent`). */
function plain(path) {
  return path
    .replaceAll("(^.+)", "")
    .split("::")
    .map((part) => part.replace(/:(\w+)/g, "{$1}"))
    .join(":")
    .replace("*", "…");
}

function framingName({ framing: kind = "sse" }) {
  const names = { sse: "SSE", ndjson: "NDJSON", "aws-event-stream": "Binary", "aws-payload-parts": "Binary" };
  return typeof kind === "function" ? "SSE or a JSON array" : names[kind];
}

function table(head, lines) {
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** As the linting step wants it. */
function formatted(markdown) {
  const { status, stdout, stderr } = spawnSync("npx", ["biome", "format", `--stdin-file-path=${FILE}`], {
    input: markdown,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Biome cannot format ${FILE}: ${stderr}`);
  return stdout;
}
