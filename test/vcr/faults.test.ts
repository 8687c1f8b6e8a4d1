import { request } from "node:http";
import OpenAI, { APIConnectionError } from "openai";
import { describe, expect, test } from "vitest";
import { vcr } from "../../src/testing/vcr/index.ts";
import { senders } from "./clients.ts";
import { listening, newFolder } from "./support.ts";

const BODY = JSON.stringify({ model: "gpt-4o", stream: true, messages: [{ role: "user", content: "hello" }] });
const PATH = "/v1/chat/completions";
const EVENT = `data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n`;

interface Failed {
  read: string;
  error: { name: string; message: string; code: unknown; cause: unknown };
}

type Send = (typeof senders)[string];

/** What a client makes of a reply, and how it fails. */
async function failed(send: Send, url: string): Promise<Failed> {
  let read = "";
  try {
    for await (const chunk of await send(url + PATH, BODY)) read += Buffer.from(chunk).toString();
  } catch (thrown) {
    const { name, message, code, cause } = thrown as NodeJS.ErrnoException;
    const { code: causeCode, message: causeMessage } = (cause ?? {}) as NodeJS.ErrnoException;
    return { read, error: { name, message, code, cause: cause && { code: causeCode, message: causeMessage } } };
  }
  throw new Error(`${url} did not fail: ${read}`);
}

/** A provider at which nothing answers. */
async function gone(): Promise<string> {
  const { url, server } = await listening(() => {});
  server.close();
  return url;
}

const FAULTS: Record<string, () => Promise<string>> = {
  "takes no connection": gone,
  "breaks off before it answers": async () => (await listening((request) => request.socket.destroy())).url,
  "breaks off in the middle of a stream": async () =>
    (
      await listening((incoming, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(EVENT, () => setImmediate(() => incoming.socket.destroy()));
      })
    ).url,
};

describe.each(Object.entries(FAULTS))("a provider that %s", (_, start) => {
  test.each(Object.entries(senders))("fails %s as it would without a scope, recorded and replayed", async (_, send) => {
    const url = await start();
    const direct = await failed(send, url);
    const folder = newFolder();
    const options = { folder, providers: { openai: url }, double: { onWarning: () => {} } };

    const recorded = await vcr.use("faults", { ...options, mode: "record" }, () => failed(send, url));
    expect(recorded).toEqual(direct);

    const replayed = await vcr.use("faults", { ...options, mode: "replay" }, () => failed(send, url));
    expect(replayed.read).toBe(direct.read);
    expect(replayed.error.name).toBe(direct.error.name);
    expect(replayed.error.code).toBe(direct.error.code);
    expect((replayed.error.cause as { code: unknown } | undefined)?.code).toBe(
      (direct.error.cause as { code: unknown } | undefined)?.code,
    );
  });
});

test("an SDK tells of it as of any connection", async () => {
  const url = await gone();
  const client = new OpenAI({ apiKey: "a-key", maxRetries: 0 });
  const asked = vcr.use("faults", { mode: "record", folder: newFolder(), providers: { openai: url } }, () =>
    client.chat.completions.create({ model: "gpt-4o", messages: [{ role: "user", content: "hello" }] }),
  );
  const error = await asked.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(APIConnectionError);
  expect((error as Error).message).toBe("Connection error.");
});

test("an error is told once: who waits for the first is not ended by a second", async () => {
  const url = await gone();
  await vcr.use("faults", { mode: "record", folder: newFolder(), providers: { openai: url } }, async () => {
    const errors: string[] = [];
    const asked = request(`${url}${PATH}`, { method: "POST" }).end(BODY);
    asked.on("error", ({ message }) => errors.push(message));
    await new Promise((done) => asked.on("close", done));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain("ECONNREFUSED");
  });
});
