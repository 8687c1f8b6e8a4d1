import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Fixture, loadFixtures, StuntDouble, type StuntDoubleOptions } from "../../src/index.ts";
import { type RecorderProcess, startRecorder } from "../support/recorder-process.ts";
import { mountVolume, type Volume, volumesUnavailable } from "../support/volume.ts";
import { chat, completion, folder, listening, onCleanup, post, provider, replaying, started } from "./support.ts";

const PATH = "/v1/chat/completions";
const JSON_TYPE = { "content-type": "application/json" };

/** Every tape in a folder is whole, and nothing else is there. */
function wholeTapes(path: string): Fixture[] {
  const names = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
  expect(names.filter((name) => !name.endsWith(".json"))).toEqual([]);
  return names.length === 0 ? [] : loadFixtures(path);
}

// A mount needs root. Without it these tests do not run, which is a failure where CI is set.
const unavailable = volumesUnavailable();
const mayMiss = unavailable !== undefined && process.env["CI"] !== "true";

describe.skipIf(mayMiss)(`a disk${mayMiss ? ` (skipped: ${unavailable})` : ""}`, () => {
  interface Kind {
    kind: string;
    options(path: string): StuntDoubleOptions;
    headers?: Record<string, string>;
  }
  const kinds: Kind[] = [
    { kind: "a fixture of its own", options: (fixturePath) => ({ record: { fixturePath } }) },
    {
      kind: "a fixture in a test's file",
      options: (fixturePath) => ({ record: { fixturePath } }),
      headers: { "x-test-id": "suite" },
    },
    { kind: "a cassette", options: (path) => ({ cassettes: { mode: "record", folder: path, scenario: "shop" } }) },
  ];
  /** Records one call, lets something happen to the disk, and asks once more for what cannot be written any more. */
  async function lost({ options, headers }: Kind, long: string, happens: (disk: Volume) => void) {
    const url = await provider((_, response, body) => response.writeHead(200, JSON_TYPE).end(completion(body)));
    const disk = mountVolume("256k");
    onCleanup(() => disk.remove());
    const { record, ...more } = options(disk.path);
    const relay = await started({ record: { ...record, providers: { openai: url } }, ...more });
    for (const text of ["earlier", long]) {
      const reply = await post(relay.url + PATH, chat(text), { headers: { ...JSON_TYPE, ...headers } });
      expect(await reply.text()).toBe(completion(JSON.stringify(chat(text))));
      if (text === long) continue;
      await relay.recorded();
      happens(disk);
    }
    const failure = await relay.stop().then(
      () => "nothing",
      (error: Error) => error.message,
    );
    const files = readdirSync(disk.path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return { failure, tapes: files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8")) };
  }

  it.each(kinds)("that is full leaves the answer and earlier tapes as they were: $kind", async (kind) => {
    const long = "y".repeat(50_000);
    const { failure, tapes } = await lost(kind, long, ({ path }) => {
      // Room for a part of what follows, so that a write begins and cannot be finished.
      const { bavail, bsize } = statfsSync(path);
      writeFileSync(join(path, "other"), '" "'.padEnd((bavail - 5) * bsize));
    });
    expect(failure).toMatch(/ENOSPC/);
    expect(tapes.map((text) => JSON.parse(text)).filter((tape) => tape !== " ")).toHaveLength(1);
    expect(tapes.join()).toContain("earlier");
    expect(tapes.join()).not.toContain("yyyy");
  });

  it.each(kinds)("that was made read-only fails the run at once: $kind", async (kind) => {
    const { failure, tapes } = await lost(kind, "later", (disk) => disk.makeReadOnly());
    expect(failure).toMatch(/EROFS/);
    expect(tapes.map((text) => JSON.parse(text))).toHaveLength(1);
    expect(tapes.join()).not.toContain("later");
  });
});

describe("a provider", () => {
  /** Speaks bytes, as no HTTP server would. */
  async function raw(answer: (socket: Socket) => void): Promise<string> {
    return listening(
      createServer((socket) => {
        socket.on("error", () => {});
        socket.once("data", () => answer(socket));
      }),
    );
  }
  async function recorded(url: string, more: object = {}) {
    const fixturePath = folder();
    const relay = await started({ record: { providers: { openai: url }, fixturePath, ...more } });
    return { relay, fixturePath, tapes: () => wholeTapes(fixturePath) };
  }

  it("that resets before the head is an error in the caller's shape, and no tape", async () => {
    const { relay, tapes } = await recorded(await raw((socket) => socket.resetAndDestroy()));
    const reply = await post(relay.url + PATH, chat("hi"));
    expect(reply.status).toBe(502);
    expect((await reply.json()).error).toMatchObject({ type: "upstream_error", code: "upstream_unreachable" });
    await relay.stop();
    expect(tapes()).toEqual([]);
  });

  it("that resets after the head breaks the client's connection too, and its tape says so", async () => {
    const { relay, tapes } = await recorded(
      await raw((socket) =>
        socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{", () =>
          setImmediate(() => socket.resetAndDestroy()),
        ),
      ),
    );
    await expect((await post(relay.url + PATH, chat("hi"))).text()).rejects.toThrow();
    await relay.stop();
    expect(tapes().map(({ recording }) => recording?.ending)).toEqual(["truncated"]);
  });

  it("that stalls in mid-stream is given up after its limit, and its tape breaks off there", async () => {
    const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "half" } }] })}\n\n`;
    const url = await provider((_, response) =>
      response.writeHead(200, { "content-type": "text/event-stream" }).write(event),
    );
    const { relay, fixturePath, tapes } = await recorded(url, { bodyTimeoutMs: 20 });
    await expect((await post(relay.url + PATH, chat("hi", { stream: true }))).text()).rejects.toThrow();
    await relay.stop();
    expect(tapes().map(({ recording }) => recording?.ending)).toEqual(["truncated"]);
    const replay = await post(`http://d${PATH}`, chat("hi", { stream: true }), {}, replaying(fixturePath).fetch);
    await expect(replay.text()).rejects.toThrow("terminated");
  });

  it("that says more than its length gives what it promised, and the next call its own answer", async () => {
    const body = completion("hi");
    const url = await raw((socket) =>
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}{}`,
      ),
    );
    const { relay, tapes } = await recorded(url);
    for (const text of ["one", "two"]) expect(await (await post(relay.url + PATH, chat(text))).text()).toBe(body);
    await relay.stop();
    expect(tapes().map(({ match, recording }) => [match.userMessage, recording?.ending])).toEqual([
      ["one", undefined],
      ["two", undefined],
    ]);
  });

  it("whose compression is broken anywhere gives the client its bytes, and the run a tape (property)", async () => {
    const codings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
    let answer = Buffer.alloc(0);
    let coding = "";
    const url = await provider((_, response) =>
      response.writeHead(200, { ...JSON_TYPE, "content-encoding": coding }).end(answer),
    );
    const fixturePath = folder();
    const relay = await started({ record: { providers: { openai: url }, fixturePath } });
    let calls = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...(Object.keys(codings) as (keyof typeof codings)[])),
        fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 3 }),
        fc.option(fc.nat(200)),
        async (name, changes, cut) => {
          coding = name;
          answer = codings[name](completion("x".repeat(200)));
          for (const [at, byte] of changes) answer[at % answer.length] = byte;
          if (cut !== null) answer = answer.subarray(0, cut % answer.length);
          // In process, where nothing decompresses it.
          const reply = await post(`http://d${PATH}`, chat(`call ${calls++}`), {}, relay.fetch);
          expect(Buffer.from(await reply.arrayBuffer())).toEqual(answer);
        },
      ),
      { numRuns: 60 },
    );
    await relay.stop();
    expect(wholeTapes(fixturePath)).toHaveLength(calls);
  });
});

describe("a secret in a field that must stay whole", () => {
  const key = `sk-${"ant"}-api03-${"aB3dE6gH9j".repeat(4)}`;
  const asked = (signature: string): object => ({
    model: "claude-fable-5",
    max_tokens: 10,
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", content: [{ type: "thinking", thinking: "Hm.", signature }] },
      { role: "user", content: "go on" },
    ],
  });
  const kinds: [string, (path: string) => StuntDoubleOptions][] = [
    ["fixture", (fixturePath) => ({ record: { fixturePath } })],
    ["cassette", (path) => ({ cassettes: { mode: "record", folder: path, scenario: "shop" } })],
  ];
  it.each(kinds)("of a request is no tape, and its caller has the answer all the same: %s", async (_, options) => {
    const url = await provider((_, response) => response.writeHead(200, JSON_TYPE).end('{"fine":true}'));
    const path = folder();
    const { record, ...more } = options(path);
    const relay = await started({ record: { ...record, providers: { anthropic: url } }, ...more });
    const ask = async (signature: string): Promise<[number, string]> => {
      const reply = await post(`${relay.url}/v1/messages`, asked(signature));
      return [reply.status, await reply.text()];
    };
    expect(await ask(key)).toEqual([200, '{"fine":true}']);
    expect(await ask("c2lnbmF0dXJl")).toEqual([200, '{"fine":true}']);
    await relay.recorded();
    // There are recordings now, with which it is compared.
    expect(await ask(key)).toEqual([200, '{"fine":true}']);
    const failure = await relay.stop().then(
      () => undefined,
      (error: Error) => error.message,
    );
    expect(failure).toContain(
      'POST /v1/messages could not be written: request body: /messages/1/content/0/signature holds what the detector "anthropic-key" takes for a secret',
    );
    expect(failure).not.toContain(key);
    const tapes = readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "stuntdouble.json")
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
    expect(tapes).toHaveLength(1);
    expect(tapes[0]).not.toContain(key);
  });

  it("is passed on where nothing is recorded", async () => {
    const url = await provider((_, response) => response.writeHead(200, JSON_TYPE).end('{"fine":true}'));
    const record = { providers: { anthropic: url }, fixturePath: folder() };
    const relay = await started({ record });
    await (await post(`${relay.url}/v1/messages`, asked("c2lnbmF0dXJl"))).text();
    await relay.stop();
    const second = await started({ record: { ...record, proxyOnly: true } });
    second.addFixtures(loadFixtures(record.fixturePath));
    expect((await post(`${second.url}/v1/messages`, asked(key))).status).toBe(200);
    await second.stop();
  });
});

describe("processes", () => {
  async function recorder(options: StuntDoubleOptions): Promise<RecorderProcess> {
    const started = await startRecorder(options);
    onCleanup(() => started.kill());
    return started;
  }

  it("that record into one folder lose nothing, in one file and in many", async () => {
    const url = await provider((_, response, body) => response.writeHead(200, JSON_TYPE).end(completion(body)));
    const fixturePath = folder();
    const options = { record: { providers: { openai: url }, fixturePath } };
    const children = await Promise.all(["a", "b", "c", "d"].map(() => recorder(options)));
    const texts = Array.from({ length: 80 }, (_, index) => `question ${index}`);
    await Promise.all(
      texts.map(async (text, index) => {
        const headers = { ...JSON_TYPE, ...(index % 2 === 0 && { "x-test-id": "shared" }) };
        const reply = await post(children[index % 4]!.url + PATH, chat(text), { headers });
        expect(await reply.text()).toBe(completion(JSON.stringify(chat(text))));
      }),
    );
    for (const child of children) expect(await child.stop()).toMatchObject({ warnings: [] });
    const recorded = wholeTapes(fixturePath).map(({ match }) => match.userMessage);
    expect(recorded.sort()).toEqual(texts.sort());
    expect(JSON.parse(readFileSync(join(fixturePath, "shared", "openai.json"), "utf8")).fixtures).toHaveLength(40);
  });

  it("a hundred recorders at once write one file, with nothing lost", { timeout: 60_000 }, async () => {
    const url = await provider((_, response, body) => response.writeHead(200, JSON_TYPE).end(completion(body)));
    const fixturePath = folder();
    const recorders = Array.from(
      { length: 100 },
      () => new StuntDouble({ record: { providers: { openai: url }, fixturePath } }),
    );
    await Promise.all(
      recorders.map(async (double, index) => {
        const headers = { ...JSON_TYPE, "x-test-id": "shared" };
        const reply = await post(`http://d${PATH}`, chat(`question ${index}`), { headers }, double.fetch);
        expect(await reply.text()).toBe(completion(JSON.stringify(chat(`question ${index}`))));
      }),
    );
    await Promise.all(recorders.map((double) => double.stop()));
    expect(new Set(wholeTapes(fixturePath).map(({ match }) => match.userMessage)).size).toBe(100);
  });

  it("a command that could not write what it recorded says so and ends with 1", async () => {
    const url = await provider((_, response) => response.writeHead(200, JSON_TYPE).end(completion("fine")));
    const path = join(folder(), "tapes");
    const flags = ["serve", "--record", "--provider-openai", url, "-p", "0", "-f", path];
    const env = { ...process.env, NO_COLOR: "1" };
    const command = spawn(process.execPath, ["dist/cli/main.js", ...flags], { env });
    onCleanup(() => command.kill("SIGKILL"));
    let said = "";
    for (const stream of [command.stdout, command.stderr]) stream.on("data", (text) => (said += text));
    await expect.poll(() => said, { timeout: 20_000 }).toMatch(/on http:\S+/);
    rmSync(path, { recursive: true });
    writeFileSync(path, "");
    const reply = await post(/on (http:\S+)/.exec(said)![1] + PATH, chat("hi"));
    expect(await reply.text()).toBe(completion("fine"));
    command.kill("SIGTERM");
    expect(await once(command, "close")).toEqual([1, null]);
    expect(said).toContain("The recording of POST /v1/chat/completions could not be written:");
  });

  it("one relays half a gigabyte in little memory, also to who reads slowly", { timeout: 120_000 }, async () => {
    const piece = Buffer.from(`data: ${"x".repeat(256 * 1024 - 8)}\n\n`);
    const pieces = 2000;
    let sent = 0;
    const url = await provider((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      sent = 0;
      const send = (): void => {
        while (sent < pieces) {
          sent++;
          if (!response.write(piece)) return void response.once("drain", send);
        }
        response.end();
      };
      send();
    });
    const fixturePath = folder();
    const record = { providers: { openai: url }, fixturePath, maxProxyBufferBytes: 4_000_000 };
    const child = await recorder({ record });
    const reply = await post(child.url + PATH, chat("hi", { stream: true }));
    const reader = reply.body!.getReader();
    let length = (await reader.read()).value!.byteLength;
    // While nobody reads, the provider is held up and nothing piles up in between.
    await expect
      .poll(
        async () => {
          const before = sent;
          await new Promise((done) => setTimeout(done, 50));
          return sent - before;
        },
        { timeout: 20_000 },
      )
      .toBe(0);
    expect(sent * piece.length).toBeLessThan(100_000_000);
    for (let next = await reader.read(); !next.done; next = await reader.read()) length += next.value.byteLength;
    expect(length).toBe(piece.length * pieces);
    const { failure, warnings, mostKilobytes } = await child.stop();
    expect(failure).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("is not whole")]);
    // What it is started with, and what waits to be collected; half of what passed through.
    expect(mostKilobytes).toBeLessThan(450_000);
    expect(wholeTapes(fixturePath).map(({ recording }) => recording?.ending)).toEqual(["partial"]);
  });
});
