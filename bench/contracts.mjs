/**
 * What contracts cost: requests a second that `play` answers over a Unix socket and WebSocket, beside a bare server
 * that parses and gives back the same bytes; and 10,000 contracts verified in this process. Needs a build.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { WebSocket } from "ws";
import { number, ROUNDS, SECONDS, scratch, spread, startServer, summary, table, times } from "./harness.mjs";

const CONTRACTS = 10_000;
const CONNECTIONS = 8;
/** Requests that each connection has under way. */
const DEPTH = 8;

const task = (id) => ({
  id,
  url: "https://example.org/disc.iso",
  state: "waiting",
  size: 1_048_576,
  tags: ["one", "two"],
});
const request = (id) => JSON.stringify({ jsonrpc: "2.0", id, method: "task.get", params: { name: "disc" } });

function writeSuite() {
  const suite = join(scratch, "contracts");
  mkdirSync(suite, { recursive: true });
  const contract = {
    name: "task.get",
    description: "bench",
    request: JSON.parse(request(1)),
    response: { jsonrpc: "2.0", id: 1, result: task("disc") },
  };
  writeFileSync(join(suite, "task.get.json"), JSON.stringify(contract));
  const params = { type: "object", required: ["name"], properties: { name: { type: "string" } } };
  writeFileSync(join(suite, "contract.json"), JSON.stringify({ schema: { methods: { "task.get": { params } } } }));
  return suite;
}

/** Keeps requests under way on every connection for a while. Gives replies a second. */
async function load(server, seconds) {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(server)));
  let answered = 0;
  let running = true;
  let id = 0;
  for (const client of clients) {
    client.onReply((count) => {
      answered += count;
      if (running) client.send(Array.from({ length: count }, () => request(++id)));
    });
    client.send(Array.from({ length: DEPTH }, () => request(++id)));
  }
  const startedAt = performance.now();
  await new Promise((done) => setTimeout(done, seconds * 1000));
  const rate = (answered * 1000) / (performance.now() - startedAt);
  running = false;
  for (const client of clients) client.close();
  return rate;
}

function open(server) {
  return new Promise((done) => {
    if (server.url?.startsWith("ws:")) {
      const socket = new WebSocket(server.url, { perMessageDeflate: false });
      socket.on("open", () =>
        done({
          send: (texts) => texts.forEach((text) => void socket.send(text)),
          onReply: (reply) => socket.on("message", () => reply(1)),
          close: () => socket.terminate(),
        }),
      );
      return;
    }
    const socket = connect(server.path, () =>
      done({
        send: (texts) => socket.write(`${texts.join("\n")}\n`),
        onReply: (reply) =>
          socket.on("data", (chunk) => {
            let count = 0;
            for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) count++;
            if (count > 0) reply(count);
          }),
        close: () => socket.destroy(),
      }),
    );
  });
}

export async function contracts() {
  const suite = writeSuite();
  const reply = JSON.stringify({ jsonrpc: "2.0", id: 0, result: task("disc") }).split('"id":0');
  const settings = { suite, reply: [`${reply[0]}"id":`, reply[1]] };
  const rows = [];
  for (const carrier of ["net", "ws"]) {
    const servers = [];
    for (const side of ["bare", "play"]) {
      const server = await startServer("contracts", {
        ...settings,
        kind: `${side} ${carrier}`,
        path: join(scratch, `${side}.sock`),
      });
      servers.push({ ...server, side });
    }
    const rates = { bare: [], play: [] };
    for (const server of servers) await load(server, 1);
    for (let round = 0; round < ROUNDS; round++)
      for (const server of servers) rates[server.side].push(await load(server, SECONDS));
    for (const server of servers) await server.stop();
    const [bare, play] = [summary(rates.bare), summary(rates.play)];
    rows.push([
      carrier === "net" ? "Unix socket" : "WebSocket",
      spread(bare),
      spread(play),
      times(play.median / bare.median),
    ]);
  }
  table("Contracts: requests a second", ["over", "bare", "play", "play / bare"], rows);

  const built = resolve(process.env.STUNTDOUBLE_CONTRACTS ?? "dist/contracts/index.js");
  const { functionChannel, loadContracts, verifyContracts } = await import(pathToFileURL(built).href);
  const many = join(scratch, "many");
  mkdirSync(many, { recursive: true });
  for (let at = 0; at < CONTRACTS; at++) {
    const contract = {
      name: `task ${at}`,
      description: "bench",
      request: { jsonrpc: "2.0", id: at, method: "task.get", params: { name: `disc ${at}` } },
      response: { jsonrpc: "2.0", id: at, result: { ...task("$uuid"), tags: ["one"] } },
    };
    writeFileSync(join(many, `${at}.json`), JSON.stringify(contract));
  }
  const loadedAt = performance.now();
  const loaded = await loadContracts(many);
  const startedAt = performance.now();
  const uuid = "00000000-0000-4000-8000-000000000000";
  const target = () =>
    functionChannel((text, send) =>
      send(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(text).id, result: task(uuid) })),
    );
  const verdicts = await verifyContracts(loaded, target, { transport: "unix" });
  const endedAt = performance.now();
  if (verdicts.some(({ status }) => status !== "passed")) throw new Error("A contract failed.");
  console.log(
    `\n${number(CONTRACTS)} contracts: loaded in ${number(startedAt - loadedAt)} ms, verified in process in ${number(endedAt - startedAt)} ms`,
  );
}
