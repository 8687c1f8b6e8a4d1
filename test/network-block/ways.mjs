// Each way out of a process that Node has. What runs one rejects with what Node said, or resolves if it got out.
import childProcess, { exec, execFile, fork, spawn, spawnSync } from "node:child_process";
import dgram from "node:dgram";
import dns, { lookup } from "node:dns";
import { resolve4 as resolve4Promised } from "node:dns/promises";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import https, { get } from "node:https";
import net, { Socket } from "node:net";
import tls from "node:tls";
import { promisify } from "node:util";
import { request as undiciRequest } from "undici";
import { WebSocket as WsSocket } from "ws";

const HOST = "blocked.example";
const ADDRESS = "192.0.2.1";

/** Rejects with the error that an emitter tells of. */
const failing = (emitter, event) => once(emitter, event);
/** Rejects with what a callback is given first. */
const called = (run) =>
  new Promise((resolve, reject) => {
    run((error, value) => (error ? reject(error) : resolve(value)));
  });

const lookups = Object.fromEntries(
  "resolve resolve4 resolve6 resolveAny resolveCaa resolveCname resolveMx resolveNaptr resolveNs resolvePtr resolveSoa resolveSrv resolveTxt"
    .split(" ")
    .flatMap((name) => [
      [`dns.${name}`, () => called((done) => dns[name](HOST, done))],
      [`dns.Resolver ${name}`, () => called((done) => new dns.Resolver()[name](HOST, done))],
      [`dns.promises.${name}`, () => dns.promises[name](HOST)],
      [`dns.promises.Resolver ${name}`, () => new dns.promises.Resolver()[name](HOST)],
    ]),
);

/** By the kind of refusal that they end in. */
export const ways = {
  connection: {
    "net.connect to a name": () => failing(net.connect(80, HOST), "connect"),
    "net.connect to an address": () => failing(net.connect({ port: 80, host: ADDRESS }), "connect"),
    "net.connect to an IPv6 address": () => failing(net.connect({ port: 80, host: "2001:db8::1" }), "connect"),
    "net.Socket": () => failing(new Socket().connect(80, HOST), "connect"),
    "a name of this machine that is led elsewhere": () =>
      failing(
        net.connect({
          port: 80,
          host: "localhost",
          lookup: (_, __, done) => done(null, [{ address: ADDRESS, family: 4 }]),
        }),
        "connect",
      ),
    "tls.connect": () => failing(tls.connect(443, HOST), "secureConnect"),
    "http.request": () => failing(http.request(`http://${HOST}`).end(), "response"),
    "http.request with an agent": () =>
      failing(http.request({ host: HOST, agent: new http.Agent({ keepAlive: true }) }).end(), "response"),
    "https.get": () => failing(get(`https://${HOST}`), "response"),
    "https.request": () => failing(https.request({ hostname: HOST }).end(), "response"),
    "http2.connect": () => failing(http2.connect(`https://${HOST}`), "connect"),
    "http2.connect without TLS": () => failing(http2.connect(`http://${HOST}`), "connect"),
    fetch: () => fetch(`https://${HOST}`),
    "undici.request": () => undiciRequest(`http://${HOST}`),
    "the package ws": () => failing(new WsSocket(`wss://${HOST}`), "open"),
  },
  lookup: {
    "dns.lookup": () => called((done) => lookup(HOST, done)),
    "dns.lookup with options": () => called((done) => dns.lookup(HOST, { all: true }, done)),
    "dns.lookup, promisified": () => promisify(dns.lookup)(HOST),
    "dns.promises.lookup": () => dns.promises.lookup(HOST),
    "dns.lookupService": () => called((done) => dns.lookupService(ADDRESS, 80, done)),
    "dns.promises.lookupService": () => dns.promises.lookupService(ADDRESS, 80),
    "dns.reverse": () => called((done) => dns.reverse(ADDRESS, done)),
    "dns.promises.reverse": () => dns.promises.reverse(ADDRESS),
    "dns/promises resolve4": () => resolve4Promised(HOST),
    ...lookups,
  },
  datagram: {
    "dgram send": () => withDatagrams("udp4", (socket, done) => socket.send("hello", 53, ADDRESS, done)),
    "dgram send of a part": () =>
      withDatagrams("udp4", (socket, done) => socket.send(Buffer.from("hello"), 1, 2, 53, HOST, done)),
    "dgram send over IPv6": () =>
      withDatagrams("udp6", (socket, done) => socket.send("hello", 53, "2001:db8::1", done)),
    "dgram send without a callback": () =>
      withDatagrams("udp4", (socket, done) => {
        socket.once("error", done);
        socket.send("hello", 53, ADDRESS);
      }),
    "dgram connect": () => withDatagrams("udp4", (socket, done) => socket.connect(53, ADDRESS, done)),
  },
  process: {
    spawn: () => failing(spawn("curl", [HOST]), "spawn"),
    "spawn with a shell": () => failing(spawn(`curl ${HOST}`, { shell: true }), "spawn"),
    exec: () => called((done) => exec(`curl ${HOST}`, done)),
    "exec, promisified": () => promisify(exec)(`curl ${HOST}`),
    execFile: () => called((done) => execFile("curl", [HOST], done)),
    "a shell by itself": () => failing(spawn("sh", ["-c", `node -v; curl ${HOST}`]), "spawn"),
    "fork of another command": () => failing(fork("x.js", { execPath: "curl" }), "spawn"),
    spawnSync: () => thrown(spawnSync("curl", [HOST]).error),
    "spawnSync with a shell": () => thrown(spawnSync(`curl ${HOST}`, { shell: true }).error),
    execSync: async () => childProcess.execSync(`curl ${HOST}`),
    execFileSync: async () => childProcess.execFileSync("curl", [HOST]),
    ...(process.execve && { "process.execve": async () => process.execve("/usr/bin/curl", ["curl", HOST]) }),
  },
};

async function thrown(error) {
  if (error !== undefined) throw error;
}

async function withDatagrams(type, send) {
  const socket = dgram.createSocket(type);
  try {
    await called((done) => send(socket, done));
  } finally {
    socket.close();
  }
}

/** Children of Node's, which may start and are blocked in turn. Each is given code and gives back what it printed. */
export const children = {
  "spawn of node": (code) => printed(spawn("node", ["-e", code])),
  "spawn with an environment of its own": (code) => printed(spawn(process.execPath, ["-e", code], { env: {} })),
  exec: async (code) => (await promisify(exec)(`node -e "${code}"`, { env: { PATH: process.env.PATH } })).stdout,
  execFile: async (code) => (await promisify(execFile)(process.execPath, ["-e", code])).stdout,
  spawnSync: async (code) => String(spawnSync(process.execPath, ["-e", code], { env: {} }).stdout),
  execFileSync: async (code) => childProcess.execFileSync(process.execPath, ["-e", code], { encoding: "utf8" }),
  fork: (code) => printed(fork("-e", [code], { execArgv: [], silent: true })),
  "children of children": (code) =>
    printed(
      spawn("node", [
        "-e",
        `process.stdout.write(require("child_process").execFileSync("node", ["-e", ${JSON.stringify(code)}], { env: {} }))`,
      ]),
    ),
};

async function printed(child) {
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
  });
  await once(child, "close");
  return text;
}
