import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { framings } from "../wire/framings.ts";
import { formatAddress, parseAddress } from "./address.ts";
import type { Channel } from "./channel.ts";
import { dial } from "./dial.ts";
import { TransportError } from "./errors.ts";
import { listen } from "./listen.ts";
import { processChannel } from "./process.ts";

const folder = mkdtempSync(join(tmpdir(), "stuntdouble-transport-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Opens a channel and waits for what comes. */
function listening(channel: Channel) {
  const frames: string[] = [];
  const noise: string[] = [];
  const waiting: { count: number; done: () => void }[] = [];
  let ended: (how: string) => void = () => {};
  const end = new Promise<string>((resolve) => {
    ended = resolve;
  });
  channel.open({
    frame(text) {
      frames.push(text);
      for (const { count, done } of waiting) if (frames.length >= count) done();
    },
    noise: ({ noise: text, reason }) => void noise.push(`${reason}: ${text}`),
    end: ended,
  });
  const until = (count: number) =>
    frames.length >= count ? Promise.resolve() : new Promise<void>((done) => waiting.push({ count, done }));
  return { frames, noise, end, until };
}

/** Answers each request with its parameters, and asks once in between where the method says so. */
function echo(channel: Channel): void {
  channel.open({
    frame(text) {
      const { id, method, params } = JSON.parse(text);
      if (id === undefined) return;
      if (method === "noisy") channel.send(JSON.stringify({ method: "progress" }));
      channel.send(JSON.stringify({ id, result: params }));
    },
    noise: () => {},
    end: () => channel.end(),
  });
}

const request = (id: number, params: unknown, method = "m") => JSON.stringify({ id, method, params });

describe.each([
  ["unix", () => `unix:${join(folder, "echo.sock")}`],
  ["tcp", () => "tcp://127.0.0.1:0"],
  ["ws", () => "ws://127.0.0.1:0/rpc"],
  ["http", () => "http://127.0.0.1:0/rpc"],
])("over %s", (kind, address) => {
  it("frames go both ways, to several clients, until they end", async () => {
    const listener = await listen(parseAddress(address()), framings.lines, echo);
    const clients = await Promise.all(
      [1, 2].map(() => dial(parseAddress(listener.address), { framing: framings.lines })),
    );
    for (const [index, client] of clients.entries()) {
      const heard = listening(client);
      client.send(JSON.stringify({ method: "note" }));
      client.send(request(1, `client ${index} \u2028`));
      await heard.until(1);
      client.send(request(2, null, "noisy"));
      await heard.until(3);
      expect(heard.frames).toEqual([
        `{"id":1,"result":"client ${index} \u2028"}`,
        '{"method":"progress"}',
        '{"id":2,"result":null}',
      ]);
      client.end();
      expect(await heard.end).toMatch(/^(it closed the (connection|WebSocket)|every request was answered)/);
      await client.stop();
    }
    await listener.close();
    if (kind === "unix") expect(existsSync(join(folder, "echo.sock"))).toBe(false);
  });

  it("says that nobody listens", async () => {
    const closed = await listen(parseAddress(address()), framings.lines, echo);
    await closed.close();
    await expect(dial(parseAddress(closed.address), { framing: framings.lines })).rejects.toThrow(
      `Nobody listens on ${closed.address}`,
    );
  });

  it("says that something else listens", async () => {
    const first = await listen(parseAddress(address()), framings.lines, echo);
    await expect(listen(parseAddress(first.address), framings.lines, echo)).rejects.toThrow(
      /cannot be listened on: something else listens there/,
    );
    await first.close();
  });
});

describe("a Unix socket", () => {
  it("is taken over from a process that is dead", async () => {
    const path = join(folder, "dead.sock");
    const run = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
    const killed = await processChannel(process.execPath, ["-e", run], {
      framing: framings.lines,
      stopGraceMs: 10_000,
    });
    await listening(killed).end;
    await killed.stop();
    expect(existsSync(path)).toBe(true);
    const listener = await listen({ kind: "unix", path }, framings.lines, echo);
    await listener.close();
  });
});

describe("HTTP", () => {
  it("keeps the session that it is given, sends headers, and reads answers and event streams", async () => {
    const seen: IncomingMessage["headers"][] = [];
    const ended: unknown[] = [];
    const server = createServer((message, response) => {
      if (message.method === "DELETE") {
        ended.push(message.headers["mcp-session-id"]);
        response.writeHead(405).end();
        return;
      }
      seen.push(message.headers);
      message.resume().on("end", () => {
        if (seen.length === 1)
          response
            .writeHead(200, { "content-type": "application/json", "mcp-session-id": "s1" })
            .end('{"id":1,"result":1}');
        else if (seen.length === 2)
          response
            .writeHead(200, { "content-type": "text/event-stream" })
            .end('event: message\ndata: {"method":"p"}\n\ndata: {"id":2,"result":2}\n\n');
        else response.writeHead(500).end("broken");
      });
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    const channel = await dial(parseAddress(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), {
      framing: framings.lines,
      headers: { authorization: "Bearer t" },
    });
    const heard = listening(channel);
    channel.send(request(1, 0));
    await heard.until(1);
    channel.send(request(2, 0));
    await heard.until(3);
    channel.send(request(3, 0));
    channel.end();
    await heard.end;
    expect(heard.frames).toEqual(['{"id":1,"result":1}', '{"method":"p"}', '{"id":2,"result":2}']);
    expect(heard.noise).toEqual(["it is an HTTP 500 response without a message: broken"]);
    expect(seen.map((headers) => [headers["mcp-session-id"], headers["authorization"]])).toEqual([
      [undefined, "Bearer t"],
      ["s1", "Bearer t"],
      ["s1", "Bearer t"],
    ]);
    await channel.stop();
    expect(ended).toEqual(["s1"]);
    server.close();
  });

  it("takes clients that know nothing of sessions for one conversation, and refuses sessions that it never gave", async () => {
    let conversations = 0;
    const listener = await listen(parseAddress("http://127.0.0.1:0/"), framings.lines, (channel) => {
      conversations++;
      echo(channel);
    });
    const post = (body: string, headers: Record<string, string> = {}) =>
      fetch(listener.address, { method: "POST", body, headers });
    expect(await (await post(request(1, "a"))).json()).toEqual({ id: 1, result: "a" });
    expect(await (await post(request(2, "b", "noisy"))).json()).toEqual({ id: 2, result: "b" });
    expect((await post('{"method":"note"}')).status).toBe(202);
    expect(conversations).toBe(1);
    await post(request(3, 0, "initialize"));
    expect(conversations).toBe(2);
    expect([
      (await post(request(4, 0), { "mcp-session-id": "x" })).status,
      (await fetch(listener.address)).status,
    ]).toEqual([404, 405]);
    await listener.close();
  });
});

describe("a process", () => {
  const node = (script: string, options: Partial<Parameters<typeof processChannel>[2]> = {}) =>
    processChannel(process.execPath, ["-e", script], { framing: framings.lines, stopGraceMs: 10_000, ...options });

  it("starts in its folder with its environment, and ends by itself", async () => {
    const channel = await node(
      'console.log(JSON.stringify({id:1,result:[process.cwd(),process.env.A]})); process.stdin.on("end", () => process.exit(4)).resume()',
      { cwd: folder, env: { A: "ä" } },
    );
    const heard = listening(channel);
    await heard.until(1);
    channel.end();
    expect(await heard.end).toBe("it exited with code 4");
    expect(JSON.parse(heard.frames[0] as string).result[1]).toBe("ä");
    expect(await channel.stop()).toEqual({ killed: false, leftBehind: false });
  });

  it("is killed with its children when it does not end in its grace", async () => {
    const pids = join(folder, "pids");
    const child = `require("child_process").spawn("sleep",["100"])`;
    const channel = await node(
      `const c=${child}; require("fs").writeFileSync(${JSON.stringify(pids)}, process.pid+" "+c.pid); console.log("{}"); setInterval(()=>{},1000)`,
      { stopGraceMs: 20 },
    );
    const heard = listening(channel);
    await heard.until(1);
    expect(await channel.stop()).toEqual({ killed: true, leftBehind: false });
    for (const pid of readFileSync(pids, "utf8").split(" ")) expect(isAlive(Number(pid))).toBe(false);
  });

  it("keeps the beginning and the end of what it logs", async () => {
    const channel = await node(
      'process.stderr.write("first\\n" + "x".repeat(5000000) + "\\nlast"); console.log("{}")',
      { stderrBytes: 1000 },
    );
    const heard = listening(channel);
    await heard.end;
    await channel.stop();
    expect(channel.stderr()).toMatch(/^first\nx{494}\n\[… 4999\d\d\d bytes left out …\]\nx{495}\nlast$/);
  });

  it("says why it cannot be started", async () => {
    const options = { framing: framings.lines, stopGraceMs: 1 };
    writeFileSync(join(folder, "plain"), "");
    await expect(processChannel("no-such-command", [], options)).rejects.toThrow(
      'The command "no-such-command" could not be started: it was not found on the PATH.',
    );
    await expect(processChannel("/no/such", [], options)).rejects.toThrow("there is no such file");
    await expect(processChannel(join(folder, "plain"), [], options)).rejects.toThrow("the file may not be executed");
    await expect(processChannel("true", [], { ...options, cwd: "/no/such" })).rejects.toThrow(TransportError);
  });
});

/** Whether the process runs; one that is dead and not yet collected does not. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

describe("addresses", () => {
  it.each([
    "stdio",
    "unix:/a/b",
    "unix:a.sock",
    "tcp://localhost:1",
    "tcp://[::1]:80",
    "http://h/x?y",
    "https://h:1/",
    "ws://h",
    "wss://h/",
  ])("%s is read and written", (text) => {
    expect(formatAddress(parseAddress(text))).toBe(text);
  });

  it.each(["", "unix:", "tcp://h", "tcp:80", "ftp://h", "localhost:80", "httpss://h"])("%j is refused", (text) => {
    expect(() => parseAddress(text)).toThrow(TransportError);
  });
});

it("a socket that is closed without a word ends the channel", async () => {
  const server = createSocketServer((socket) => socket.destroy());
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const channel = await dial(parseAddress(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`), {
    framing: framings.lines,
  });
  const heard = listening(channel);
  channel.send(request(1, 0));
  expect(await heard.end).toMatch(/it closed the connection|the stream failed/);
  await channel.stop();
  server.close();
});
