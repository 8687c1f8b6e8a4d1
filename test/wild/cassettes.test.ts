import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cassetteFiles } from "../../src/cassettes/folder.ts";
import type { Cassette } from "../../src/cassettes/types.ts";
import { UserRules } from "../../src/cassettes/user-rules.ts";
import { verifyFile } from "../../src/cassettes/verify.ts";
import { type ChatReply, choiceText } from "../../src/chat/reply.ts";
import type { Operation } from "../../src/dialects/operation.ts";
import { readExchange } from "../../src/dialects/read-exchange.ts";
import { createRedactor, type Redactor, withoutNumbers } from "../../src/guard/redact.ts";
import { StuntDouble } from "../../src/index.ts";
import { formatDifference } from "../../src/report/difference.ts";
import { dialects } from "../../src/services/registry.ts";
import {
  bytesOf,
  init,
  interactionsIn,
  isBase64,
  pathOf,
  RecordedProvider,
  recordings,
  redacted,
} from "./interactions.ts";

const operations = dialects.flatMap((dialect) => dialect.operations);
const verifying = { operations, rules: new UserRules() };
const provider = new RecordedProvider();
let url: string;
let redactor: Redactor;
beforeAll(async () => {
  redactor = await createRedactor();
  url = await provider.start();
});
afterAll(() => provider.stop());

/** How many takes had a timeline that their raw payload proved, and how many were told again by their timeline alone. */
let proved = 0;
let retold = 0;

describe.each(recordings)("%s", (name, file) => {
  const { segment, interactions } = interactionsIn(file);

  test("becomes cassettes that verify, and replays from them", async () => {
    const folder = mkdtempSync(join(tmpdir(), "stuntdouble-wild-cassettes-"));
    try {
      const recording = await StuntDouble.start({
        record: { providers: { [segment]: url } },
        cassettes: { mode: "record", folder },
      });
      for (const [index, { request, response }] of interactions.entries()) {
        const key = `${name} ${index}`;
        provider.answer(key, response);
        await (await fetch(recording.url + pathOf(request, segment), init(request, key))).arrayBuffer();
      }
      await recording.stop();
      const files = cassetteFiles(folder);
      expect(files.length).toBe(interactions.length);
      for (const cassette of files) {
        for (const verdict of await verifyFile(cassette, folder, verifying)) {
          expect(verdict.differences.map(formatDifference)).toEqual([]);
          if (verdict.status === "passed") proved++;
        }
      }
      const raw = new StuntDouble({ cassettes: { mode: "replay", folder } });
      for (const [index, { request, response }] of interactions.entries()) {
        const replayed = await raw.fetch(`http://double${pathOf(request, segment)}`, init(request));
        expect(replayed.status, `raw ${index}`).toBe(response.status);
        expect(replayed.headers.get("content-type") ?? "").toBe(response.content_type ?? "");
        const bytes = Buffer.from(await replayed.arrayBuffer());
        const original = redacted(redactor, bytesOf(response.body), response.content_type ?? "");
        if (isBase64(response.body)) expect(bytes.equals(original), `raw ${index}`).toBe(true);
        else expect(withoutNumbers(bytes.toString())).toBe(withoutNumbers(original.toString()));
      }
      await raw.stop();
      for (const cassette of files) removeRaw(cassette);
      const canonical = new StuntDouble({ cassettes: { mode: "replay", folder } });
      for (const [index, interaction] of interactions.entries()) {
        const { request, response } = interaction;
        const replayed = await canonical.fetch(`http://double${pathOf(request, segment)}`, init(request));
        const cassette = canonical.lastCall()!.response.fixture!;
        const operation = operationOf(join(folder, cassette));
        if (operation?.output !== "chat" || operation.rules === undefined || response.status >= 400) continue;
        const original = redacted(redactor, bytesOf(response.body), response.content_type ?? "");
        const said = saidIn(original, response.content_type ?? "", operation);
        if (said === undefined) continue;
        const bytes = Buffer.from(await replayed.arrayBuffer());
        retold++;
        expect(saidIn(bytes, replayed.headers.get("content-type") ?? "", operation), `canonical ${index}`).toEqual(
          said,
        );
      }
      await canonical.stop();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test("most takes are proved by their raw payload", () => {
  expect(proved).toBeGreaterThan(200);
  expect(retold).toBeGreaterThan(200);
});

function operationOf(file: string): Operation | undefined {
  const { traces } = JSON.parse(readFileSync(file, "utf8")) as Cassette;
  const name = Object.values(traces)[0]!.stuntdouble?.operation;
  return operations.find((operation) => operation.name === name);
}

/** What is left when nothing was kept of the wire. */
function removeRaw(file: string): void {
  const cassette = JSON.parse(readFileSync(file, "utf8")) as Cassette;
  for (const trace of Object.values(cassette.traces)) {
    delete trace.raw_payload;
    const { http } = trace.stuntdouble!;
    if (http === undefined) continue;
    delete http.body;
    delete http.framing;
  }
  writeFileSync(file, JSON.stringify(cassette));
}

/** What a body says, whoever encoded it. */
function saidIn(body: Buffer, type: string, operation: Operation): unknown {
  const { reply } = readExchange({ chunks: [{ atMs: 0, bytes: body }], headers: [["content-type", type]] }, operation);
  if (reply === undefined || reply.choices.length === 0) return undefined;
  return JSON.parse(withoutNumbers(JSON.stringify(said(reply))));
}

function said({ choices, usage }: ChatReply): unknown {
  return {
    choices: choices.map((choice) => ({
      text: choiceText(choice),
      calls: choice.parts.flatMap((part) =>
        part.type === "toolCall" ? [{ name: part.name, arguments: parsed(part.arguments) }] : [],
      ),
      finish: choice.finish.reason,
    })),
    tokens: [usage?.promptTokens ?? 0, usage?.completionTokens ?? 0],
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
