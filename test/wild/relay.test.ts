import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRedactor, type Redactor, withoutNumbers } from "../../src/guard/redact.ts";
import { StuntDouble } from "../../src/index.ts";
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

const provider = new RecordedProvider();
let url: string;
let redactor: Redactor;
beforeAll(async () => {
  redactor = await createRedactor();
  url = await provider.start();
});
afterAll(() => provider.stop());

describe.each(recordings)("%s", (name, file) => {
  const { segment, interactions } = interactionsIn(file);

  test("passes through unharmed, and is replayed after a restart", async () => {
    const folder = mkdtempSync(join(tmpdir(), "stuntdouble-wild-relay-"));
    try {
      const recording = await StuntDouble.start({ record: { providers: { [segment]: url }, fixturePath: folder } });
      for (const [index, { request, response }] of interactions.entries()) {
        const key = `${name} ${index}`;
        provider.answer(key, response);
        const live = await fetch(recording.url + pathOf(request, segment), init(request, key));
        expect(live.status).toBe(response.status);
        expect(Buffer.from(await live.arrayBuffer()).equals(bytesOf(response.body)), `live ${index}`).toBe(true);
      }
      await recording.stop();
      const replaying = new StuntDouble({ replaySpeed: 1000, repeat: "miss" });
      replaying.load(folder);
      for (const [index, { request, response }] of interactions.entries()) {
        const replayed = await replaying.fetch(`http://double${pathOf(request, segment)}`, init(request));
        expect(replayed.status, `replayed ${index}`).toBe(response.status);
        expect(replayed.headers.get("content-type") ?? "").toBe(response.content_type ?? "");
        const bytes = Buffer.from(await replayed.arrayBuffer());
        const original = redacted(redactor, bytesOf(response.body), response.content_type ?? "");
        if (typeof response.body === "string" || !isBase64(response.body)) {
          expect(withoutNumbers(bytes.toString())).toBe(withoutNumbers(original.toString()));
        } else expect(bytes.equals(original), `replayed ${index}`).toBe(true);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test("there are recordings", () => {
  expect(recordings.length).toBeGreaterThan(100);
});
