import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect, type LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, test } from "vitest";
import {
  beyondNetworkBlock,
  blockEnvironment,
  blockNetwork,
  NetworkBlockedError,
  type NetworkBlockOptions,
  type Refusal,
  withNetworkBlocked,
} from "../../src/guard/network-block.ts";
import { children, ways } from "./ways.mjs";

const TRY_ALL = join(import.meta.dirname, "try-all.mjs");
const BLOCKED = "the network is blocked";
const EVERY_WAY = Object.entries(ways).flatMap(([kind, list]) => Object.keys(list).map((name) => `${kind}: ${name}`));

const lifts: (() => void)[] = [];
afterEach(() => {
  for (const lift of lifts.splice(0)) lift();
});

/** Blocks this process for the length of a test. */
function block(options: NetworkBlockOptions = {}): Refusal[] {
  const refusals: Refusal[] = [];
  lifts.push(blockNetwork({ onRefused: (refusal) => refusals.push(refusal), ...options }));
  return refusals;
}

/** What an error says, or the one behind it. */
async function failure(run: () => Promise<unknown>): Promise<NetworkBlockedError> {
  const error = await run().then(
    () => undefined,
    (reason: Error) => reason,
  );
  return (error?.cause ?? error) as NetworkBlockedError;
}

describe.each(Object.entries(ways))("out of this process by a %s", (kind, list) => {
  test.each(Object.entries<() => Promise<unknown>>(list))("%s", async (_, run) => {
    const refusals = block();
    const error = await failure(run);
    expect(refusals.length).toBeGreaterThan(0);
    expect(refusals.map((refusal) => refusal.kind)).toContain(kind);
    expect(refusals[0]?.stack).toContain("ways.mjs");
    expect(error.message).toContain(BLOCKED);
    expect(error.code).toMatch(/^E(CONNREFUSED|NOTFOUND|PERM|ACCES)$/);
  });
});

describe("out of other processes of Node's", () => {
  test.each(["--require", "--import"])("a child that was started with %s", async (flag) => {
    const args = [flag, "stuntdouble/block", TRY_ALL];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
    const told = JSON.parse(stdout) as Record<string, string>;
    expect(Object.keys(told)).toEqual(EVERY_WAY);
    for (const [way, message] of Object.entries(told)) expect(`${way}: ${message}`).toContain(BLOCKED);
    expect(stderr).toContain("a connection was refused");
    expect(stderr).toContain("ways.mjs");
  });

  test("a worker", async () => {
    block();
    const worker = new Worker(TRY_ALL, { env: {}, stderr: true });
    const [told] = (await once(worker, "message")) as [Record<string, string>];
    await worker.terminate();
    expect(Object.keys(told)).toEqual(EVERY_WAY);
    for (const [way, message] of Object.entries(told)) expect(`${way}: ${message}`).toContain(BLOCKED);
  });

  test.each(Object.entries(children))("a child by %s, which tells of it in the report", async (_, start) => {
    const folder = mkdtempSync(join(tmpdir(), "stuntdouble-block-"));
    lifts.push(() => rmSync(folder, { recursive: true }));
    const report = join(folder, "refusals.jsonl");
    block({ report });
    const code = "fetch('http://blocked.example').catch((e) => console.log(e.cause.message))";
    expect(await start(code)).toContain(BLOCKED);
    const [refusal] = readFileSync(report, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Refusal);
    expect(refusal).toMatchObject({ kind: "connection", target: "blocked.example:80" });
    expect(refusal?.pid).not.toBe(process.pid);
  });

  test("what a child may reach, it may reach", async () => {
    const environment = { ...process.env, ...blockEnvironment({}, [{ hosts: ["192.0.2.7"] }]) };
    const code = `fetch("http://192.0.2.7", { signal: AbortSignal.timeout(1) }).catch((e) => console.log(e.name));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", code], { env: environment });
    expect(stdout.trim()).toBe("TimeoutError");
  });

  test("by WebSocket and EventSource, which tell no reason", async () => {
    const folder = mkdtempSync(join(tmpdir(), "stuntdouble-block-"));
    lifts.push(() => rmSync(folder, { recursive: true }));
    const report = join(folder, "refusals.jsonl");
    const code = `
      const socket = new WebSocket("wss://blocked.example");
      socket.onopen = socket.onerror = ({ type }) => console.log("WebSocket", type);
      const source = new EventSource("https://blocked.example:81");
      source.onopen = source.onerror = ({ type }) => { source.close(); console.log("EventSource", type); };`;
    const args = ["--experimental-websocket", "--experimental-eventsource", "-e", code];
    const env = { ...process.env, ...blockEnvironment({}, [{ report }]) };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    expect(new Set(stdout.trim().split("\n"))).toEqual(new Set(["EventSource error", "WebSocket error"]));
    const refusals = readFileSync(report, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Refusal);
    expect(refusals.map(({ target }) => target).sort()).toEqual(["blocked.example:443", "blocked.example:81"]);
    for (const { stack } of refusals) expect(stack).toContain("[eval]");
  });
});

/** A connection that gets as far as this is not blocked. */
const noLookup: LookupFunction = (_, __, done) => done(new Error("asked for"), "");

describe("what passes", () => {
  async function local(): Promise<string> {
    const server = createServer((_, response) => response.end("here"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    lifts.push(() => server.close());
    return `:${(server.address() as AddressInfo).port}`;
  }

  test("loopback, by address and by name", async () => {
    const port = await local();
    const refusals = block();
    for (const host of ["127.0.0.1", "localhost"]) {
      expect(await (await fetch(`http://${host}${port}`)).text()).toBe("here");
    }
    expect(refusals).toEqual([]);
  });

  test.each(["blocked.example", "*.example", "blocked.example:81", "[2001:db8::1]:81"])(
    "a host on the list: %s",
    async (host) => {
      const refusals = block({ hosts: [host] });
      const asked = host.startsWith("[") ? "2001:db8::1" : "blocked.example";
      connect({ port: 81, host: asked, lookup: noLookup })
        .on("error", () => {})
        .destroy();
      expect(refusals).toEqual([]);
    },
  );

  test("not another port of it, and not a name that only ends like it", async () => {
    const refusals = block({ hosts: ["blocked.example:81", "*.lock.example"] });
    for (const [host, port] of [
      ["blocked.example", 80],
      ["block.example", 81],
      ["lock.example", 81],
    ] as const) {
      await failure(() => once(connect(port, host), "connect"));
    }
    expect(refusals.map(({ target }) => target)).toEqual(["blocked.example:80", "block.example:81", "lock.example:81"]);
  });

  test("commands on the list, also as the only one of a shell's line", async () => {
    block({ commands: ["echo", "/bin/true"] });
    expect((await promisify(execFile)("echo", ["hello"])).stdout).toBe("hello\n");
    await promisify(execFile)("/bin/true");
    const [code] = (await once(spawn("echo hello", { shell: true }), "close")) as [number];
    expect(code).toBe(0);
    for (const line of ["echo hello; curl x", "echo $(curl x)", "echo hello | sh", "echo hello && curl x"]) {
      expect((await failure(() => once(spawn(line, { shell: true }), "spawn"))).message).toContain(BLOCKED);
    }
  });

  test("what is on no list is no host", () => {
    expect(() => blockNetwork({ hosts: ["https://api.example"] })).toThrow(
      '"https://api.example" is no host: expected a name, *.domain or an address, with or without a port.',
    );
  });

  test("everything again once it is lifted, and what is exempt meanwhile", async () => {
    const port = await local();
    const lift = blockNetwork({ onRefused: () => {} });
    const tried = (): Promise<unknown> =>
      once(connect({ port: 80, host: "blocked.example", lookup: noLookup }), "connect");
    expect((await failure(tried)).message).toContain(BLOCKED);
    expect((await failure(() => beyondNetworkBlock(tried))).message).toBe("asked for");
    lift();
    expect((await failure(tried)).message).toBe("asked for");
    expect((await fetch(`http://127.0.0.1${port}`)).status).toBe(200);
  });

  test("all that is outside of an asynchronous context that is blocked", async () => {
    const tried = (): Promise<unknown> =>
      once(connect({ port: 80, host: "blocked.example", lookup: noLookup }), "connect");
    const [inside, outside] = await Promise.all([
      withNetworkBlocked({ onRefused: () => {} }, () => failure(tried)),
      failure(tried),
    ]);
    expect(inside).toBeInstanceOf(NetworkBlockedError);
    expect(outside.message).toBe("asked for");
  });
});
