import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readExchange } from "../../src/dialects/read-exchange.ts";
import { DETECTORS } from "../../src/guard/detectors.ts";
import { Finder } from "../../src/guard/find.ts";
import { type GuardRule, StuntDouble } from "../../src/index.ts";
import { dialects } from "../../src/services/registry.ts";
import { WRITERS } from "../support/dialect-asks.ts";
import { providerCalls } from "../support/provider-calls.ts";
import { ENCODINGS, encoding, IN_CONTEXT, plain, SECRETS } from "../support/secrets.ts";
import { chatReplyText } from "./reply-text.ts";

const ALL = ["provider key", "token", "credential", "organisation", "personal", "machine"];
const blocking = (rule: Partial<GuardRule>): GuardRule => ({ action: "block", detectors: ALL, ...rule });
const finder = new Finder(DETECTORS);
const operations = new Map(dialects.flatMap((dialect) => dialect.operations.map((one) => [one.name, one])));
const contexts: Readonly<Record<string, readonly [string, string]>> = {
  ...IN_CONTEXT,
  ...Object.fromEntries(Object.entries(SECRETS).map(([name, text]) => [name, [text, text]])),
};
const kind = fc.constantFrom(...Object.keys(contexts));
const call = fc.constantFrom(...providerCalls);

function ask(
  double: StuntDouble,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return double.fetch(`http://double${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });
}

describe("a blocking rule on requests", () => {
  it("lets nothing past that a detector finds, in any dialect and encoding", async () => {
    const double = new StuntDouble({ guard: { rules: [blocking({ directions: ["request"] })] } });
    double.on({}, { content: "It got through." });
    await fc.assert(
      fc.asyncProperty(
        call,
        kind,
        encoding,
        plain,
        plain,
        fc.boolean(),
        async (to, name, encoded, before, after, streamed) => {
          const [text, secret] = contexts[name]!;
          const prompt = ENCODINGS[encoded]!(before + text + after);
          const response = await ask(double, to.path(streamed), to.body(prompt, streamed), to.headers);
          const answer = await response.text();
          expect([response.status, answer]).toEqual([403, expect.stringContaining("Guardrail Block: ")]);
          expect(answer).not.toContain(secret);
          const entry = JSON.stringify(double.lastCall());
          expect(entry).not.toContain(secret);
          expect(entry).toContain('"source":"guard"');
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each(providerCalls)("lets the rest through: $operation", async (to) => {
    const double = new StuntDouble({ guard: { rules: [blocking({})] } });
    double.on({}, { content: "It got through." });
    for (const streamed of [false, true]) {
      const response = await ask(double, to.path(streamed), to.body("How is the weather?", streamed), to.headers);
      expect(response.status).toBe(200);
      expect(double.lastCall()?.response).toMatchObject({ source: "fixture" });
      await response.text();
    }
  });

  const secret = "Project Falcon";
  const said = {
    system: { system: [secret], user: "hi" },
    user: { system: ["Be kind."], user: secret },
    tool: { user: "hi", tool: { id: "call_1", name: "look", result: secret } },
  };
  it.each(Object.entries(WRITERS))("tells roles apart: %s", async (_, write) => {
    for (const [role, words] of Object.entries(said)) {
      const sent = write(words) ?? write({ input: secret });
      if (sent === undefined || (role !== "user" && write(words) === undefined)) continue;
      for (const rule of ["system", "user", "tool", "assistant"] as const) {
        const double = new StuntDouble({
          guard: { rules: [{ action: "block", words: [secret], roles: [rule], directions: ["request"] }] },
        });
        double.on({}, { content: "Fine." });
        const { status } = await ask(double, sent.path, sent.body);
        expect([role, rule, status === 403]).toEqual([role, rule, rule === role]);
      }
    }
  });
});

describe("a blocking rule on responses", () => {
  it("lets no part of it out, in any dialect, encoding and pieces, streamed or not", async () => {
    const double = new StuntDouble({ guard: { rules: [blocking({ directions: ["response"] })] } });
    await fc.assert(
      fc.asyncProperty(
        call,
        kind,
        encoding,
        plain,
        plain,
        fc.boolean(),
        fc.integer({ min: 1, max: 40 }),
        async (to, name, encoded, before, after, streamed, chunkSize) => {
          const [text, secret] = contexts[name]!;
          const said = ENCODINGS[encoded]!(before + text + after);
          double.reset();
          double.on({}, { content: said }, { chunkSize });
          const response = await ask(double, to.path(streamed), to.body("hi", streamed), to.headers);
          const bytes: Uint8Array[] = [];
          try {
            for await (const chunk of response.body!) bytes.push(chunk);
          } catch {
            // A provider without an event for it just breaks off.
          }
          const answer = Buffer.concat(bytes).toString();
          expect(answer).not.toContain(secret);
          if (!streamed) {
            expect([response.status, answer]).toEqual([403, expect.stringContaining("Guardrail Block: ")]);
            return;
          }
          const operation = operations.get(to.operation)!;
          const headers: [string, string][] = [["content-type", response.headers.get("content-type") ?? ""]];
          const { reply } = readExchange({ chunks: [{ atMs: 0, bytes: Buffer.concat(bytes) }], headers }, operation);
          const through = chatReplyText(reply);
          expect(said.startsWith(through)).toBe(true);
          expect(through.length).toBeLessThanOrEqual(finder.find(said)[0]!.start);
          expect(double.lastCall()?.response).toMatchObject({ interrupted: true, interruptReason: "guardrail" });
          expect(JSON.stringify(double.lastCall())).not.toContain(secret);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("a breaker", () => {
  it("lets no dialect's stream go past its limit, whatever the pieces", async () => {
    await fc.assert(
      fc.asyncProperty(
        call,
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 200 }),
        fc.boolean(),
        async (to, chunkSize, outputCharacters, streamed) => {
          const double = new StuntDouble({ guard: { breaker: { call: { outputCharacters } } } });
          const said = "Words and more words. ".repeat(6);
          double.on({}, { content: said }, { chunkSize });
          const response = await ask(double, to.path(streamed), to.body("hi", streamed), to.headers);
          const bytes: Uint8Array[] = [];
          try {
            for await (const chunk of response.body!) bytes.push(chunk);
          } catch {
            // A provider without an event for it just breaks off.
          }
          const fits = said.length <= outputCharacters;
          if (!streamed) {
            expect(response.status).toBe(fits ? 200 : 403);
            return;
          }
          const operation = operations.get(to.operation)!;
          const headers: [string, string][] = [["content-type", response.headers.get("content-type") ?? ""]];
          const { reply } = readExchange({ chunks: [{ atMs: 0, bytes: Buffer.concat(bytes) }], headers }, operation);
          const through = chatReplyText(reply);
          expect(said.startsWith(through)).toBe(true);
          expect(through.length).toBeLessThanOrEqual(outputCharacters);
          // No more than one piece is missing of what would have been allowed.
          expect(through.length).toBeGreaterThan(Math.min(said.length, outputCharacters) - chunkSize - 1);
          expect(double.lastCall()?.response.interruptReason).toBe(fits ? undefined : "breaker");
        },
      ),
      { numRuns: 200 },
    );
  });
});
