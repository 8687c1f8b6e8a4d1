import fc from "fast-check";
import { expect, test } from "vitest";
import { loadContracts } from "../../src/conformance/contracts/load.ts";
import { verifyContracts } from "../../src/conformance/contracts/verify.ts";
import { ManualClock } from "../../src/state/manual-clock.ts";
import { clientOf, mockOf, mockTarget, pair, suiteOf } from "./support.ts";

const suite = await loadContracts("test/contracts/download-manager");
const add = { url: "https://example.org/a.iso", startMode: "later" };
const dead = "00000000-0000-4000-8000-000000000000";

test("the folder passes against what plays it, with the conditions that are allowed", async () => {
  const allow = ["capture.offer.timeout", "errors/pairing.confirm.lockout"];
  const verdicts = await verifyContracts(suite, mockTarget(mockOf(suite)), { transport: "unix", settleMs: 1 });
  expect(verdicts.filter(({ status }) => status === "failed")).toEqual([]);
  expect(verdicts.filter(({ status }) => status === "passed")).toHaveLength(22);
  const armed = await verifyContracts(suite, mockTarget(mockOf(suite, { allow })), {
    transport: "unix",
    settleMs: 1,
    allow,
    filter: ({ requires }) => requires !== undefined,
  });
  expect(armed.filter(({ status }) => status === "passed").map((verdict) => verdict.case)).toEqual([
    "errors/capture.offer.timeout.json",
    "errors/pairing.confirm.lockout.json",
    "coverage",
  ]);
});

test("an id that add gives out is found by get and in the list, says the same again, and is gone after remove", () => {
  const client = clientOf(mockOf(suite));
  const one = client.ask("download.add", add).result as { id: string };
  const two = client.ask("download.add", add).result as { id: string };
  expect(one.id).not.toBe(two.id);
  const got = client.ask("download.get", { id: one.id });
  expect(got.result?.["id"]).toBe(one.id);
  expect(client.ask("download.get", { id: one.id })).toEqual(got);
  const ids = () => (client.ask("download.list", {}).result as { tasks: { id: string }[] }).tasks.map(({ id }) => id);
  expect(ids()).toEqual([one.id, two.id]);
  expect(client.ask("download.remove", { id: one.id }).result).toEqual({ id: one.id, removed: true });
  expect(client.ask("download.get", { id: one.id }).error).toEqual({ code: -32004, message: "there is no such task" });
  expect(ids()).toEqual([two.id]);
});

test("whatever is added and removed, exactly what lives is found", () => {
  const action = fc.record({ remove: fc.boolean(), pick: fc.nat() });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 20 }), (actions) => {
      const client = clientOf(mockOf(suite));
      const living: string[] = [];
      const gone: string[] = [];
      for (const { remove, pick } of actions) {
        if (remove && living.length > 0) {
          const [id] = living.splice(pick % living.length, 1) as [string];
          client.ask("download.remove", { id });
          gone.push(id);
        } else living.push((client.ask("download.add", add).result as { id: string }).id);
      }
      for (const id of living) expect(client.ask("download.get", { id }).result?.["id"]).toBe(id);
      for (const id of gone) expect(client.ask("download.get", { id }).error?.code).toBe(-32004);
      expect(new Set([...living, ...gone]).size).toBe(living.length + gone.length);
    }),
    { numRuns: 50 },
  );
});

test.each([
  ["alone", {}, {}],
  ["first", {}, { most: 1 }],
  ["last", { most: 1 }, {}],
  ["between", { most: 1 }, { $ref: 2 }],
])("ids as names of members are those that live: %s", async (_, before, after) => {
  const mapped = await suiteOf({
    contract: { setup: [{ request: { method: "add", params: { text: "x" } }, bind: { $id: "/result/id" } }] },
    add: pair("add", { text: "a" }, { result: { id: 17 } }),
    all: pair("all", undefined, { result: { byId: { ...before, $id: { text: "a", at: "$isoDate" }, ...after } } }),
    remove: pair("remove", { id: "$id" }, { result: true }),
  });
  const client = clientOf(mockOf(mapped));
  const all = () => (client.ask("all").result as { byId: object }).byId;
  expect(all()).toEqual({ ...before, ...after });
  const [one, two] = ["mine", "yours"].map((text) => client.ask("add", { text }).result?.["id"] as number);
  const at = expect.stringMatching(/Z$/);
  expect(all()).toEqual({
    ...before,
    [one as number]: { text: "mine", at },
    [two as number]: { text: "yours", at },
    ...after,
  });
  client.ask("remove", { id: one });
  expect(all()).toEqual({ ...before, [two as number]: { text: "yours", at }, ...after });
  const verdicts = await verifyContracts(mapped, mockTarget(mockOf(mapped)), { transport: "unix", settleMs: 1 });
  expect(verdicts.flatMap(({ differences }) => differences)).toEqual([]);
});

test("errors come on their recorded condition, and not otherwise", () => {
  const client = clientOf(mockOf(suite));
  const code = (method: string, params: unknown) => client.ask(method, params).error?.code;
  expect(code("download.add", { url: "https://example.net/b.iso", saveDir: "../../etc" })).toBe(-32005);
  expect(code("download.add", { url: "https://example.net/b.iso", saveDir: "films" })).toBeUndefined();
  expect(code("download.get", { id: dead })).toBe(-32004);
  expect(code("settings.set", { token: "never-given-out", maxActive: 5 })).toBe(-32001);
  expect(code("settings.set", { token: "another", maxActive: 2 })).toBe(-32001);
  expect(code("pairing.begin", undefined)).toBeUndefined();
  const far = clientOf(mockOf(suite), "tcp");
  expect(far.ask("pairing.begin").error?.code).toBe(-32002);
});

test("what breaks the protocol or the schema gets the protocol's own codes", () => {
  const client = clientOf(mockOf(suite));
  const codes = (text: string) => {
    client.received.length = 0;
    client.send(text);
    return client.received
      .flat()
      .map((reply) => [(reply as { id: unknown }).id, (reply as { error?: { code: number } }).error?.code]);
  };
  expect(codes('{"jsonrpc":"2.0","id":1,"method":')).toEqual([[null, -32700]]);
  expect(codes("[]")).toEqual([[null, -32600]]);
  expect(codes("[1,2]")).toEqual([
    [null, -32600],
    [null, -32600],
  ]);
  expect(codes('{"id":7,"method":"settings.get"}')).toEqual([[7, -32600]]);
  expect(codes('{"jsonrpc":"2.0","id":1,"method":"no.such"}')).toEqual([[1, -32601]]);
  expect(codes('{"jsonrpc":"2.0","id":1,"method":"download.get","params":{"id":7}}')).toEqual([[1, -32602]]);
  expect(codes('{"jsonrpc":"2.0","method":"settings.get"}')).toEqual([]);
  expect(codes('[{"jsonrpc":"2.0","method":"settings.get"}]')).toEqual([]);
  expect(
    codes(
      '[{"jsonrpc":"2.0","id":"a","method":"settings.get"},{"jsonrpc":"2.0","method":"settings.get"},{"jsonrpc":"2.0","id":2,"method":"no.such"}]',
    ),
  ).toEqual([
    ["a", undefined],
    [2, -32601],
  ]);
});

test("ids come back as they were written", () => {
  const client = clientOf(mockOf(suite));
  for (const id of ["9007199254740993", "1.0", '"\\u0041"', "1e2", "null"]) {
    client.send(`{"jsonrpc":"2.0","id":${id},"method":"settings.get"}`);
    expect(client.texts.at(-1)).toContain(`"id":${id},`);
  }
});

test("events reach every client after their cause, and only after a success", () => {
  const mock = mockOf(suite);
  const [caller, other] = [clientOf(mock), clientOf(mock, "ws")];
  const task = caller.ask("download.add", add).result as { id: string };
  expect(caller.received).toHaveLength(2);
  expect(other.received).toEqual([
    { jsonrpc: "2.0", method: "download.added", params: { task: expect.objectContaining({ id: task.id }) } },
  ]);
  caller.ask("download.remove", { id: dead });
  expect(other.received).toHaveLength(1);
  other.close();
  caller.ask("download.add", add);
  expect(other.received).toHaveLength(1);
});

const ticking = await suiteOf({
  contract: { events: { tick: { everyMs: 1000 }, told: { after: "ask", to: "caller", delayMs: 5 } } },
  ask: pair("ask", undefined, { result: true }),
  "events/tick": { notification: { jsonrpc: "2.0", method: "tick", params: { at: "$isoDate" } } },
  "events/told": { notification: { jsonrpc: "2.0", method: "told", params: { by: "us" } } },
});

test("an event on a timer comes to all clients as long as there are any", () => {
  const clock = new ManualClock();
  const mock = mockOf(ticking, { clock });
  const [one, two] = [clientOf(mock), clientOf(mock)];
  const ticks = (client: typeof one) => client.received.map((message) => (message as { method: string }).method);
  clock.advance(999);
  expect([ticks(one), ticks(two)]).toEqual([[], []]);
  clock.advance(2001);
  expect([ticks(one), ticks(two)]).toEqual([
    ["tick", "tick", "tick"],
    ["tick", "tick", "tick"],
  ]);
  two.close();
  clock.advance(1000);
  expect([ticks(one).length, ticks(two).length]).toEqual([4, 3]);
  one.close();
  clock.advance(5000);
  expect(ticks(one)).toHaveLength(4);
  const late = clientOf(mock);
  clock.advance(1000);
  expect(ticks(late)).toEqual(["tick"]);
});

test("an event for the caller comes to nobody else, and after its delay", () => {
  const clock = new ManualClock();
  const mock = mockOf(ticking, { clock });
  const [caller, other] = [clientOf(mock), clientOf(mock)];
  expect(caller.ask("ask").result).toBe(true);
  clock.advance(4);
  expect(caller.received).toHaveLength(1);
  clock.advance(1);
  expect(caller.received[1]).toEqual({ jsonrpc: "2.0", method: "told", params: { by: "us" } });
  expect(other.received).toEqual([]);
});

test("events on a timer and for the caller are held to their goldens", async () => {
  const clock = new ManualClock();
  const mock = mockOf(ticking, { clock });
  let running = true;
  const pass = () => {
    clock.advance(100);
    if (running) setImmediate(pass);
  };
  pass();
  const verdicts = await verifyContracts(ticking, mockTarget(mock), { transport: "unix", clock, settleMs: 10 });
  running = false;
  expect(verdicts.map(({ case: id, status, differences }) => [id, status, differences])).toEqual([
    ["ask.json", "passed", []],
    ["events/tick.json", "passed", []],
    ["events/told.json", "passed", []],
  ]);
});

test("a delayed method takes its time while others are answered", () => {
  const clock = new ManualClock();
  const client = clientOf(mockOf(suite, { clock, delays: new Map([["capture.offer", 500]]) }));
  expect(client.ask("capture.offer", { url: "https://example.org/x" }, 1)).toBeUndefined();
  expect(client.ask("settings.get", undefined, 2).result).toEqual({ maxActive: 3, hosts: ["example.org"] });
  clock.advance(499);
  expect(client.received).toHaveLength(1);
  clock.advance(1);
  expect(client.received[1]).toEqual({ jsonrpc: "2.0", id: 1, result: { taken: true } });
});

test("the same seed gives the same bytes", () => {
  const play = () => {
    const client = clientOf(mockOf(suite, { clock: new ManualClock() }));
    client.ask("download.add", add);
    client.ask("download.list", {});
    return client.texts;
  };
  expect(play()).toEqual(play());
});

test("any text gets replies that can be read, and nothing else", () => {
  const client = clientOf(mockOf(suite));
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.jsonValue().map((params) => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "download.add", params })),
      ),
      (text) => {
        client.send(text);
      },
    ),
    { numRuns: 300 },
  );
  expect(client.received.flat().every((reply) => (reply as { jsonrpc: string }).jsonrpc === "2.0")).toBe(true);
});
