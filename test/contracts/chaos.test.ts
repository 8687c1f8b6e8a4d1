import { expect, test } from "vitest";
import { ControlledDaemon } from "../../src/cli/contracts/controlled-daemon.ts";
import { loadContracts } from "../../src/conformance/contracts/load.ts";
import { ManualClock } from "../../src/state/manual-clock.ts";
import { SeededStamps } from "../../src/state/stamps.ts";
import { clientOf } from "./support.ts";

const suite = await loadContracts("test/contracts/download-manager");
const add = { url: "https://example.net/a.iso" };

function daemon() {
  const clock = new ManualClock();
  const controlled = new ControlledDaemon(suite, { clock, stamps: new SeededStamps(1) }, undefined);
  const client = clientOf(controlled.daemon);
  const tasks = () => (client.ask("download.list", {}).result as { tasks: unknown[] }).tasks.length;
  return { clock, controlled, client, tasks };
}

test.each([
  ["dropRate", -32000],
  ["rateLimitRate", -32029],
] as const)("a request that %s strikes is refused and was not served", (rate, code) => {
  const { controlled, client, tasks } = daemon();
  const other = clientOf(controlled.daemon);
  controlled.setChaos({ [rate]: 1 });
  expect(client.ask("download.add", add).error?.code).toBe(code);
  expect(controlled.calls().map(({ response }) => [response.fixture, response.detail])).toEqual([
    ["download.add.json", `error ${code}`],
  ]);
  controlled.clearChaos();
  expect(tasks()).toBe(0);
  expect(other.received).toEqual([]);
});

test("a one-shot error is in the place of one request, which was not served", () => {
  const { controlled, client, tasks } = daemon();
  controlled.nextRequestError(500, { message: "once", code: -32050 });
  expect(client.ask("download.add", add)).toEqual({
    jsonrpc: "2.0",
    id: 1,
    error: { code: -32050, message: "once" },
  });
  expect(tasks()).toBe(0);
});

test("a broken answer is that of a request that was served", () => {
  const { controlled, client, tasks } = daemon();
  const texts: string[] = [];
  const broken = { transport: "unix" as const, send: (text: string) => void texts.push(text), disconnect: () => {} };
  controlled.daemon.connect(broken);
  controlled.setChaos({ malformedRate: 1 });
  controlled.daemon.receive(broken, JSON.stringify({ jsonrpc: "2.0", id: 9, method: "download.add", params: add }));
  expect(texts[0]).toBe('{"jsonrpc":"2.0","id":');
  expect(client.received).toMatchObject([{ method: "download.added" }]);
  controlled.clearChaos();
  expect(tasks()).toBe(1);
});

test("a connection that breaks does so after its request was served", () => {
  const { controlled, client, tasks } = daemon();
  const other = clientOf(controlled.daemon);
  controlled.setChaos({ disconnectRate: 1 });
  expect(other.ask("download.add", add)).toBeUndefined();
  controlled.clearChaos();
  expect(client.received).toMatchObject([{ method: "download.added" }]);
  expect(tasks()).toBe(1);
});

test("what is late is served when it is answered", async () => {
  const { clock, controlled, client, tasks } = daemon();
  controlled.setChaos({ latencyMs: 100 });
  expect(client.ask("download.add", add)).toBeUndefined();
  controlled.clearChaos();
  expect(tasks()).toBe(0);
  client.received.length = 0;
  clock.advance(100);
  await Promise.resolve();
  await Promise.resolve();
  expect(client.received).toMatchObject([{ result: { url: add.url } }, { method: "download.added" }]);
  expect(tasks()).toBe(1);
});

test("a notification is never answered, whatever strikes", () => {
  const { controlled, client } = daemon();
  controlled.setChaos({ dropRate: 1 });
  client.send('{"jsonrpc":"2.0","method":"download.list"}');
  expect(client.texts).toEqual([]);
});
