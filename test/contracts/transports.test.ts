import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { runCli, startCli, temporaryFolder } from "../conformance/support.ts";
import { pair, writeSuite } from "./support.ts";

const DOWNLOADS = "test/contracts/download-manager";
const folder = temporaryFolder();
const stops: (() => void)[] = [];
afterAll(() => {
  for (const stop of stops) stop();
});

/** Starts `play`, and gives the address that it says. */
async function play(suite: string, address: string, ...args: string[]): Promise<string> {
  const child = startCli(["play", suite, "--listen", address, ...args]);
  stops.push(() => child.kill("SIGKILL"));
  child.stderr?.pipe(process.stderr);
  const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), "line");
  return String(line).slice("Listening on ".length);
}

const verdicts = (stdout: string, sign: string) =>
  stdout.split("\n").flatMap((line) => (line.startsWith(sign) ? [line.split(" ")[1]] : []));

test("over HTTP the folder passes against play, events in the answers' streams", async () => {
  const url = await play(DOWNLOADS, "http://127.0.0.1:0");
  const ran = await runCli(["verify", DOWNLOADS, "--target", url]);
  expect(verdicts(ran.stdout, "✗")).toEqual([]);
  // Two contracts are for the Unix socket only, one for TCP.
  expect([ran.code, verdicts(ran.stdout, "✓").length]).toEqual([0, 18]);
  expect(verdicts(ran.stdout, "✓")).toContain("events/download.added.json");
  const post = (body: string) => fetch(url, { method: "POST", body }).then((response) => response.text());
  expect(
    JSON.parse(await post('{"jsonrpc":"2.0","id":7.0,"method":"download.add","params":{"url":"https://example.org/"}}'))
      .result,
  ).toMatchObject({ url: "https://example.org/" });
  expect(await post('{"jsonrpc":"2.0","id":7.0,"method":"none"}')).toBe(
    '{"jsonrpc":"2.0","id":7.0,"error":{"code":-32601,"message":"Method not found: none"}}',
  );
  expect(JSON.parse(await post("{")).error.code).toBe(-32700);
});

test("over HTTP a broken answer and a broken connection are what the client sees", async () => {
  const broken = await play(DOWNLOADS, "http://127.0.0.1:0", "--chaos-malformed", "1");
  const cut = await play(DOWNLOADS, "http://127.0.0.1:0", "--chaos-disconnect", "1");
  const post = (url: string, accept: string) =>
    fetch(url, {
      method: "POST",
      headers: { accept },
      body: '{"jsonrpc":"2.0","id":1,"method":"download.list"}',
    });
  for (const accept of ["application/json", "application/json, text/event-stream"]) {
    expect(await (await post(broken, accept)).text()).toBe('{"jsonrpc":"2.0","id":');
    await expect(post(cut, accept)).rejects.toThrow("fetch failed");
  }
});

// A service with Content-Length headers, written with node's sockets alone.
function serveWithHeaders(socket: Socket): void {
  let rest = Buffer.alloc(0);
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const end = rest.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/Content-Length: (\d+)/.exec(rest.toString("latin1", 0, end))?.[1]);
      if (rest.length < end + 4 + length) return;
      const { id, params } = JSON.parse(rest.toString("utf8", end + 4, end + 4 + length));
      rest = rest.subarray(end + 4 + length);
      for (const message of [
        { jsonrpc: "2.0", id, result: { text: params.text } },
        { jsonrpc: "2.0", method: "said", params: { text: params.text } },
      ]) {
        const body = Buffer.from(JSON.stringify(message));
        socket.write(`Content-Length: ${body.length}\r\n\r\n`);
        socket.write(body);
      }
    }
  });
}

test("with Content-Length headers the folder passes against a live service and against play", async () => {
  const suite = writeSuite(join(folder, "headers"), {
    contract: { framing: "content-length", events: { said: { after: "say" } } },
    say: pair(
      "say",
      { text: "größer als ein Byte: 漢字 \u2028" },
      { result: { text: "größer als ein Byte: 漢字 \u2028" } },
    ),
    "events/said": { notification: { jsonrpc: "2.0", method: "said", params: { text: "größer" } } },
  });
  const server = createServer(serveWithHeaders).listen(join(folder, "headers.sock"));
  stops.push(() => server.close());
  await once(server, "listening");
  const played = await play(suite, `unix:${folder}/headers-play.sock`);
  for (const target of [`unix:${folder}/headers.sock`, played]) {
    const ran = await runCli(["verify", suite, "--target", target]);
    expect([ran.code, verdicts(ran.stdout, "✓")]).toEqual([0, ["say.json", "events/said.json"]]);
  }
  // One that speaks lines is told apart.
  const lines = createServer((socket) => socket.on("error", () => {}).on("data", () => socket.write("{}\n")));
  lines.listen(join(folder, "lines.sock"));
  stops.push(() => lines.close());
  await once(lines, "listening");
  const target = `unix:${folder}/lines.sock`;
  expect((await runCli(["verify", suite, "--target", target, "--response-timeout", "100ms"])).code).toBe(1);
});

const VARIABLE = `\${NOTES_TOKEN}`;
const TOKEN = 'a "quoted" token';
const guarded = {
  contract: {
    authentication: {
      request: { method: "login", params: { token: VARIABLE } },
      headers: { "x-notes-token": VARIABLE },
    },
  },
  who: pair("who", undefined, { result: { name: "sam" } }),
  "errors/who.stranger": pair(
    "who",
    undefined,
    { error: { code: -32001, message: "log in" } },
    { authentication: false },
  ),
};

/** Answers `who` to those who have logged in. */
function guard(known: boolean, send: (message: object) => void): (text: string) => void {
  let loggedIn = known;
  return (text) => {
    const { id, method, params } = JSON.parse(text);
    if (method === "login" && params.token === TOKEN) loggedIn = true;
    const right = loggedIn ? { result: method === "login" ? true : { name: "alex" } } : undefined;
    send({ jsonrpc: "2.0", id, ...(right ?? { error: { code: -32001, message: "log in" } }) });
  };
}

test("the suite's authentication is sent on every connection, but where a contract leaves it out", async () => {
  const suite = writeSuite(join(folder, "guarded"), guarded);
  const server = createServer((socket) => {
    const receive = guard(false, (message) => void socket.write(`${JSON.stringify(message)}\n`));
    const lines = createInterface({ input: socket });
    for (const part of [lines, socket]) part.on("error", () => {});
    lines.on("line", receive);
  }).listen(join(folder, "guarded.sock"));
  stops.push(() => server.close());
  await once(server, "listening");
  const target = ["--target", `unix:${folder}/guarded.sock`];
  const verify = (env: Record<string, string>) => runCli(["verify", suite, ...target], "", env);
  const passed = await verify({ NOTES_TOKEN: TOKEN });
  expect([passed.code, verdicts(passed.stdout, "✓")]).toEqual([0, ["who.json", "errors/who.stranger.json"]]);
  const refused = await verify({ NOTES_TOKEN: "another" });
  expect([refused.code, verdicts(refused.stdout, "✗")]).toEqual([1, ["who.json"]]);
  expect(refused.stdout).toContain("the authentication failed");
  expect(refused.stdout).not.toContain("another");
  const missing = await verify({});
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain(
    "the environment variable NOTES_TOKEN is not set, and the suite's authentication needs it",
  );
});

test("its headers are sent over HTTP and WebSocket", async () => {
  const { contract, who } = guarded;
  const suite = writeSuite(join(folder, "headers-only"), {
    contract: { authentication: { headers: contract.authentication.headers } },
    who,
  });
  const http = createHttpServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () =>
      guard(request.headers["x-notes-token"] === TOKEN, (message) => response.end(JSON.stringify(message)))(text),
    );
  });
  const sockets = new WebSocketServer({ server: http });
  sockets.on("connection", (socket, request) => {
    const receive = guard(request.headers["x-notes-token"] === TOKEN, (message) =>
      socket.send(JSON.stringify(message)),
    );
    socket.on("message", (data) => receive(String(data)));
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  stops.push(() => http.close());
  const { port } = http.address() as { port: number };
  for (const scheme of ["http", "ws"]) {
    const verify = (token: string) =>
      runCli(["verify", suite, "--target", `${scheme}://127.0.0.1:${port}`], "", { NOTES_TOKEN: token });
    expect((await verify(TOKEN)).code).toBe(0);
    expect((await verify("another")).code).toBe(1);
  }
});

test("many clients are served at once, and a broken one breaks nobody else", async () => {
  const address = await play(DOWNLOADS, `unix:${folder}/many.sock`);
  const ask = async (id: number) => {
    const socket = connect(address.slice("unix:".length));
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    socket.write(`{"jsonrpc":"2.0","id":${id},"method":"settings.get"}\n{"jsonrpc":`);
    const { value } = await lines.next();
    socket.destroy();
    return JSON.parse(value as string).id;
  };
  const ids = Array.from({ length: 50 }, (_, id) => id);
  expect(await Promise.all(ids.map(ask))).toEqual(ids);
});
