import { describe, expect, test, vi } from "vitest";
import { StuntDouble } from "../../src/index.ts";
import { vcr } from "../../src/testing/vcr/index.ts";
import { type Client, clients } from "./clients.ts";
import { allAt, filesIn, newFolder, onCleanup, provider } from "./support.ts";

async function told(client: Client, prompt: string): Promise<string> {
  let text = "";
  await client.streamed(prompt, (piece) => {
    text += piece;
  });
  return text;
}

/** It says something, and then nothing more for longer than anybody waits. */
const STALLING = {
  match: { userMessage: "hello" },
  response: { content: "This is as far as it gets, and what comes after it nobody will ever see." },
  recordedTimings: { ttftMs: 0, interChunkDelaysMs: [...Array(8).fill(0), 3_600_000] },
};

/** Gives a client up once it has told something. */
async function abandon(client: Client): Promise<{ text: string; error: unknown }> {
  const abort = new AbortController();
  let text = "";
  const error = await client
    .streamed(
      "hello",
      (piece) => {
        text += piece;
        if (piece !== "") setImmediate(() => abort.abort());
      },
      abort.signal,
    )
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  return { text, error };
}

describe.each(Object.entries(clients))("%s", (_, client) => {
  test("is recorded, and replayed without its provider", async () => {
    const folder = newFolder();
    const upstream = await provider();
    const providers = allAt(upstream.url);
    const both = async (): Promise<string[]> => [await client.whole("hello"), await told(client, "hello")];

    const recorded = await vcr.use("a talk", { mode: "record", folder, providers }, both);
    expect(recorded).toEqual(["Hi from afar!", "Hi from afar!"]);
    expect(upstream.calls()).toHaveLength(2);
    expect(filesIn(folder)).toHaveLength(2);
    await upstream.stop();

    const replayed = await vcr.use("a talk", { mode: "replay", folder, providers }, both);
    expect(replayed).toEqual(recorded);
  });

  test("gets a stream as it comes, and aborts its provider's in the middle", async () => {
    const upstream = await StuntDouble.start({ chunkSize: 4, fixtures: [STALLING] });
    onCleanup(() => upstream.stop());
    const options = { mode: "record", folder: newFolder(), providers: allAt(upstream.url) } as const;
    const warnings: string[] = [];
    const double = { onWarning: (message: string) => warnings.push(message) };

    const { text, error } = await vcr.use("given up", { ...options, double }, () => abandon(client));
    expect(STALLING.response.content.startsWith(text) && text !== "").toBe(true);
    expect(error).toBeInstanceOf(Error);
    await vi.waitFor(() => expect(upstream.lastCall()?.response).toMatchObject({ interruptReason: "client gone" }));
    expect(warnings.join()).toContain("is not whole");
  });

  test("aborts what is replayed", async () => {
    const double = { fixtures: [STALLING], chunkSize: 4 };
    const ended = await vcr.use("given up", { mode: "replay", folder: newFolder(), double }, async (scope) => {
      const { error } = await abandon(client);
      await vi.waitFor(() =>
        expect(scope.double.lastCall()?.response).toMatchObject({ interruptReason: "client gone" }),
      );
      return error;
    });
    expect(ended).toBeInstanceOf(Error);
  });
});
