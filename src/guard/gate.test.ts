import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ENCODINGS, encoding, IN_CONTEXT, plain, SECRETS } from "../../test/support/secrets.ts";
import { DETECTORS } from "./detectors.ts";
import { Finder } from "./find.ts";
import { ResponseGate } from "./gate.ts";
import { type GuardAction, type GuardRule, Guardrails } from "./guardrails.ts";

interface Gemini {
  candidates: [{ content: { parts: [{ text: string }] } }];
}

const chunk = (content: string) =>
  `data: ${JSON.stringify({ id: "c1", created: 1, service_tier: "default", choices: [{ index: 0, delta: { content } }] })}\n\n`;
const named = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

/** How a text is streamed in pieces. */
const STREAMS: Readonly<
  Record<string, { contentType: string; of(pieces: readonly string[]): string; read(text: string): string }>
> = {
  "chat completions": {
    contentType: "text/event-stream",
    of: (pieces) => `${chunk("")}${pieces.map(chunk).join("")}data: [DONE]\n\n`,
    read: (text) =>
      dataOf(text)
        .map(({ choices }) => choices[0].delta.content)
        .join(""),
  },
  "arguments of a tool": {
    contentType: "text/event-stream",
    of: (pieces) =>
      [
        named("content_block_start", { index: 1, content_block: { type: "tool_use", id: "t", name: "n", input: {} } }),
        ...pieces.map((partial_json) =>
          named("content_block_delta", { index: 1, delta: { type: "input_json_delta", partial_json } }),
        ),
        named("content_block_stop", { index: 1 }),
        named("message_stop", {}),
      ].join(""),
    read: (text) =>
      dataOf(text)
        .map(({ delta }) => delta?.partial_json ?? "")
        .join(""),
  },
  "lines of JSON": {
    contentType: "application/x-ndjson",
    of: (pieces) =>
      pieces
        .map((content) => `${JSON.stringify({ model: "m", message: { role: "assistant", content }, done: false })}\n`)
        .join(""),
    read: (text) =>
      text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line).message.content)
        .join(""),
  },
  "one array": {
    contentType: "application/json",
    of: (pieces) =>
      `[${pieces.map((text) => JSON.stringify({ candidates: [{ content: { parts: [{ text }], role: "model" }, index: 0 }] })).join(",\r\n")}]`,
    read: (text) => {
      const whole = text.trim().endsWith("]") ? text : `${text}]`;
      return text.trim() === ""
        ? ""
        : JSON.parse(whole.trim().startsWith("[") ? whole : `[${whole}`)
            .map((one: Gemini) => one.candidates[0].content.parts[0].text)
            .join("");
    },
  },
};

// biome-ignore lint/suspicious/noExplicitAny: what a stream of any provider holds
function dataOf(text: string): any[] {
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!));
}

const finder = new Finder(DETECTORS);
const rules = new Map<GuardAction, Promise<Guardrails>>();
async function gateOf(action: GuardAction, contentType: string, given?: GuardRule): Promise<ResponseGate> {
  if (!rules.has(action))
    rules.set(
      action,
      Guardrails.load([
        { action, detectors: ["provider key", "token", "credential", "organisation", "personal", "machine"] },
      ]),
    );
  const guardrails = given === undefined ? await rules.get(action)! : await Guardrails.load([given]);
  return new ResponseGate({
    screens: guardrails.of("response", "openai"),
    meter: undefined,
    contentType,
    streamed: true,
  });
}

function split(text: string, at: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const cuts = [
    0,
    ...[...new Set(at.map((share) => Math.floor(share * bytes.length)))].sort((a, b) => a - b),
    bytes.length,
  ];
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
}

function piecesOf(text: string, at: readonly number[]): string[] {
  const cuts = [
    0,
    ...[...new Set(at.map((share) => Math.floor(share * text.length)))].sort((a, b) => a - b),
    text.length,
  ];
  return cuts.slice(1).map((end, index) => text.slice(cuts[index], end));
}

function run(gate: ResponseGate, chunks: readonly Buffer[]) {
  const out: Uint8Array[] = [];
  const hits = [];
  for (const step of [...chunks.map((bytes) => () => gate.push(bytes, 0)), () => gate.end(0)].map((take) => take())) {
    out.push(...step.out);
    hits.push(...step.hits);
    if (step.cut !== undefined) return { text: Buffer.concat(out).toString(), cut: step.cut, hits };
  }
  return { text: Buffer.concat(out).toString(), cut: undefined, hits };
}

const contexts: Readonly<Record<string, readonly [string, string]>> = {
  ...IN_CONTEXT,
  ...Object.fromEntries(Object.entries(SECRETS).map(([name, text]) => [name, [text, text]])),
};
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
const streamName = fc.constantFrom(...Object.keys(STREAMS));

describe("a blocking rule on a stream", () => {
  it("lets through no part of what a detector finds, whatever the encoding, the pieces and the chunks", async () => {
    await fc.assert(
      fc.asyncProperty(
        streamName,
        fc.constantFrom(...Object.keys(contexts)),
        encoding,
        plain,
        plain,
        cuts,
        cuts,
        async (name, kind, encoded, before, after, pieces, chunks) => {
          const stream = STREAMS[name]!;
          const [text, secret] = contexts[kind]!;
          const said = ENCODINGS[encoded]!(before + text + after);
          const { text: passed, cut } = run(
            await gateOf("block", stream.contentType),
            split(stream.of(piecesOf(said, pieces)), chunks),
          );
          expect(cut?.message).toMatch(/^Guardrail Block: /);
          expect(cut?.message).not.toContain(secret);
          const through = stream.read(passed);
          expect(said.startsWith(through)).toBe(true);
          // All that has left stands before the place where what was found begins.
          expect(through.length).toBeLessThanOrEqual(finder.find(said)[0]!.start);
        },
      ),
      { numRuns: 300 },
    );
  });
});
