import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createMockSuite, createServer, type Fixture, LLMock } from "../../src/testing/aimock/index.ts";

const ending: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const end of ending.splice(0).reverse()) await end();
});

async function ask(url: string, content = "hello", headers: Record<string, string> = {}): Promise<Response> {
  const body = JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content }] });
  return fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
}

async function text(response: Response | Promise<Response>): Promise<unknown> {
  const { choices } = (await (await response).json()) as { choices: [{ message: { content: unknown } }] };
  return choices[0].message.content;
}

describe("createServer", () => {
  it("serves the array that it was given: pushed to, edited in place, emptied", async () => {
    const fixtures: Fixture[] = [];
    const { url, journal, server, close } = await createServer(fixtures, { port: 0 });
    ending.push(close);
    expect(server.listening).toBe(true);
    expect((await ask(url)).status).toBe(404);
    fixtures.push({ match: { userMessage: "hello" }, response: { content: "pushed" } });
    expect(await text(ask(url))).toBe("pushed");
    fixtures[0]!.response = { content: "edited" };
    expect(await text(ask(url))).toBe("edited");
    fixtures[0] = { match: { userMessage: "hello" }, response: { content: "put in its place" } };
    expect(await text(ask(url))).toBe("put in its place");
    fixtures.length = 0;
    expect((await ask(url)).status).toBe(404);
    expect(journal.getAll().map(({ response }) => response.status)).toEqual([404, 200, 200, 200, 404]);
    expect(journal.getAll({ limit: 1 })).toEqual([journal.getLast()]);
    expect(journal.getAll({ limit: 0 })).toEqual([]);
    journal.clear();
    expect(journal.size).toBe(0);
  });

  it("the control API adds to the array, and empties it", async () => {
    const fixtures: Fixture[] = [];
    const { url, close } = await createServer(fixtures);
    ending.push(close);
    const added = { fixtures: [{ match: { userMessage: "hello" }, response: { content: "over HTTP" } }] };
    const reply = await fetch(`${url}/__aimock/fixtures`, { method: "POST", body: JSON.stringify(added) });
    expect(await reply.json()).toEqual({ added: 1 });
    expect(fixtures).toHaveLength(1);
    expect(await text(ask(url))).toBe("over HTTP");
    await fetch(`${url}/__aimock/fixtures`, { method: "DELETE" });
    expect(fixtures).toHaveLength(0);
  });

  it("Node's server can be closed directly, and mounts can be given at once", async () => {
    const mounted = { path: "/x", handler: { handleRequest: vi.fn(async (_, response) => !!response.end("taken")) } };
    const { url, server } = await createServer([], {}, [mounted]);
    expect(await (await fetch(`${url}/x/y`)).text()).toBe("taken");
    await new Promise((closed) => server.close(closed));
    await expect(fetch(url)).rejects.toThrow();
  });
});

describe("createMockSuite", () => {
  it("starts and stops one server with the fixtures that it was given", async () => {
    const suite = await createMockSuite({
      port: 0,
      fixtures: [{ match: { userMessage: "hello" }, response: { content: "Hi!" } }],
      llm: { chunkSize: 5 },
    });
    expect(() => suite.url).toThrow(/start/);
    await suite.start();
    ending.push(() => suite.stop());
    expect(suite.url).toBe(suite.llm.url);
    expect(await text(ask(suite.url))).toBe("Hi!");
    suite.reset();
    expect((await ask(suite.url)).status).toBe(404);
  });

  it("loads files, and refuses what is not there yet", async () => {
    const suite = await createMockSuite({ fixtures: "examples/fixtures" });
    expect(suite.llm.getFixtures().length).toBeGreaterThan(3);
    await expect(createMockSuite({ services: { search: true } })).rejects.toThrow(/services/);
    await expect(createMockSuite({ mcp: { tools: [] } } as object)).rejects.toThrow(/mcp/);
  });
});

describe("LLMock beyond aimock's own tests", () => {
  async function started(options = {}): Promise<LLMock> {
    const mock = await LLMock.create(options);
    ending.push(() => mock.stop());
    return mock;
  }

  it("explains a miss in the journal, and says who answered", async () => {
    const mock = await started();
    mock.onMessage("hullo", { content: "Hi!" });
    await ask(mock.url);
    expect(mock.getLastRequest()!.response.detail).toContain("hullo");
    await ask(mock.url, "hullo");
    expect(mock.getLastRequest()!.response.source).toBe("fixture");
  });

  it("keeps as many calls as it is told, and 0 keeps them all", async () => {
    const [two, all] = [await started({ journalMaxEntries: 2 }), await started({ journalMaxEntries: 0 })];
    for (const { url } of [two, two, two, all, all, all]) await ask(url);
    expect(two.getRequests()).toHaveLength(2);
    expect(all.getRequests()).toHaveLength(3);
  });

  it("lets in who has a key, mounts included; the environment's keys win", async () => {
    const handleRequest = vi.fn(async (_, response) => !!response.end("taken"));
    const mock = await started({ auth: { apiKeys: ["good"] } });
    mock.mount("/x", { handleRequest });
    expect((await fetch(`${mock.url}/x`)).status).toBe(401);
    expect(handleRequest).not.toHaveBeenCalled();
    expect((await fetch(`${mock.url}/x`, { headers: { "x-api-key": "good" } })).status).toBe(200);
    vi.stubEnv("AIMOCK_API_KEYS", "other, third");
    const stricter = await started({ auth: { apiKeys: ["good"] } });
    expect((await ask(stricter.url, "hello", { authorization: "Bearer good" })).status).toBe(401);
    expect((await ask(stricter.url, "hello", { authorization: "Bearer third" })).status).toBe(404);
  });

  it("a mount writes into the journal; one that fails answers 500, and nothing hangs", async () => {
    const mock = await started();
    mock.mount("/broken", {
      setJournal: (journal) =>
        void journal.add({
          ...{ method: "POST", path: "/broken", headers: {}, body: null, service: "broken" },
          response: { status: 200, fixture: null },
        }),
      handleRequest: async () => {
        throw new Error("out of order");
      },
    });
    expect(mock.getRequests()).toMatchObject([{ service: "broken", path: "/broken" }]);
    const reply = await fetch(`${mock.url}/broken`);
    expect(reply.status).toBe(500);
    expect(await reply.text()).toContain("out of order");
    expect(() => mock.mount("tools", { handleRequest: async () => true })).toThrow(/slash/);
  });

  it("enableRecording passes on and records what no fixture answers, until disableRecording", async () => {
    const folder = mkdtempSync(join(tmpdir(), "aimock-recorded-"));
    ending.push(() => rmSync(folder, { recursive: true, force: true }));
    const message = { role: "assistant", content: "from afar" };
    const provider = createHttpServer((request, response) => {
      request.resume();
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ id: "x", model: "gpt-4o", choices: [{ index: 0, message, finish_reason: "stop" }] }),
      );
    });
    await new Promise<void>((listening) => provider.listen(0, "127.0.0.1", listening));
    ending.push(() => provider.close());
    const { port } = provider.address() as AddressInfo;
    const mock = await started();
    mock.enableRecording({ providers: { openai: `http://127.0.0.1:${port}` }, fixturePath: folder });
    expect(await text(ask(mock.url))).toBe("from afar");
    expect(mock.getLastRequest()!.response).toMatchObject({ source: "proxy", fixture: null });
    mock.disableRecording();
    expect((await ask(mock.url, "something else")).status).toBe(404);
    await mock.stop();
    expect(readdirSync(folder)).toHaveLength(1);
    expect(mock.getFixtures()).toHaveLength(1);
    await mock.start();
    expect(await text(ask(mock.url))).toBe("from afar");
    expect(mock.getLastRequest()!.response.source).toBe("fixture");
  });
});
