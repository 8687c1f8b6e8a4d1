import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { StuntDouble, type StuntDoubleOptions } from "../../src/index.ts";
import { makeCertificate } from "../../src/server/certificate.ts";
import { folder, listening, onCleanup } from "./support.ts";

const run = promisify(execFile);

async function started(ca = folder(), options: StuntDoubleOptions = {}): Promise<{ double: StuntDouble; ca: string }> {
  const double = await StuntDouble.start({ proxy: { ca }, ...options });
  onCleanup(() => double.stop());
  return { double, ca };
}

/** Once it listens. */
const portOf = async (server: Server): Promise<number> => Number(new URL(await listening(server)).port);

/** What comes back to a request that no client would send, until the connection is closed. */
function raw(double: StuntDouble, request: string): Promise<string> {
  return new Promise((done, failed) => {
    const socket = connect(double.port, "127.0.0.1", () => socket.write(request));
    let text = "";
    socket.on("data", (chunk) => (text += chunk));
    socket.on("close", () => done(text));
    socket.on("error", failed);
  });
}

const curl = async (...args: string[]): Promise<string> =>
  (await run("curl", ["-sS", "--max-time", "20", ...args])).stdout;
const ask = [
  "-H",
  "content-type: application/json",
  "-d",
  JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: "hello" }] }),
];

it("opens connections to a provider's host for who trusts its authority, and speaks HTTP/1.1 and HTTP/2 on them", async () => {
  const asked: string[] = [];
  const upstream = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end("from the provider");
  });
  const { double, ca } = await started(folder(), {
    record: { proxyOnly: true, providers: { openai: await listening(upstream) } },
  });
  double.onMessage("hello", { content: "from the double" });
  const trusting = ["-x", double.url, "--cacert", join(ca, "ca.pem"), "-w", " %{http_version}"];
  for (const [flag, version] of [
    ["--http1.1", "1.1"],
    ["--http2", "2"],
  ] as const) {
    const text = await curl(flag, ...trusting, ...ask, "https://api.openai.com/v1/chat/completions");
    expect(text).toContain("from the double");
    expect(text.endsWith(` ${version}`)).toBe(true);
    expect(await curl(flag, ...trusting, "https://api.openai.com/v1/files?limit=1")).toBe(
      `from the provider ${version}`,
    );
  }
  expect(asked).toEqual(["GET /v1/files?limit=1", "GET /v1/files?limit=1"]);
  await expect(curl("-x", double.url, ...ask, "https://api.openai.com/v1/chat/completions")).rejects.toThrow(
    /certificate/,
  );
  expect(statSync(join(ca, "ca-key.pem")).mode & 0o777).toBe(0o600);
});

it("passes other hosts through with their own certificates, and plain HTTP too", async () => {
  const { double } = await started();
  const secure = createTlsServer(await makeCertificate(), (_, response) => response.end("own TLS"));
  const plain = createServer((request, response) => response.end(`plain ${request.url}`));
  const [securePort, plainPort] = await Promise.all([portOf(secure), portOf(plain)]);
  expect(await curl("-k", "-x", double.url, "--noproxy", "", `https://localhost:${securePort}/`)).toBe("own TLS");
  expect(await curl("-x", double.url, "--noproxy", "", `http://localhost:${plainPort}/a?b=1`)).toBe("plain /a?b=1");
  expect(double.calls()).toEqual([]);
});

it("keeps its authority from run to run", async () => {
  const { double, ca } = await started();
  double.onMessage("hello", { content: "one" });
  await double.stop();
  const { double: again } = await started(ca);
  again.onMessage("hello", { content: "two" });
  const text = await curl(
    "-x",
    again.url,
    "--cacert",
    join(ca, "ca.pem"),
    ...ask,
    "https://api.openai.com/v1/chat/completions",
  );
  expect(JSON.parse(text).choices[0].message.content).toBe("two");
});

it("makes one authority for all that begin at the same time", async () => {
  const ca = folder();
  const doubles = await Promise.all(Array.from({ length: 4 }, async () => (await started(ca)).double));
  for (const double of doubles) {
    double.onMessage("hello", { content: "trusted" });
    const trusted = ["-x", double.url, "--cacert", join(ca, "ca.pem")];
    expect(await curl(...trusted, ...ask, "https://api.openai.com/v1/chat/completions")).toContain("trusted");
  }
  expect(readdirSync(ca).sort()).toEqual(["ca-key.pem", "ca.pem"]);
});

it.each([
  ["CONNECT localhost:99999", "400 Bad Request", "no host and port to connect to: localhost:99999."],
  ["CONNECT :443", "400 Bad Request", "Expected one like api.openai.com:443."],
  ["CONNECT [::1", "400 Bad Request", "no host and port to connect to: [::1."],
  ["GET http://[bad/", "400 Bad Request", "This is no URL: http://[bad/."],
  ["GET http:///", "400 Bad Request", "This is no URL: http:///."],
  ["GET http://a:b:c/", "400 Bad Request", "Expected one like http://example.com/path."],
])("refuses %s, and goes on", async (request, status, message) => {
  const { double } = await started();
  const reply = await raw(double, `${request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  expect(reply).toContain(`HTTP/1.1 ${status}\r\n`);
  expect(reply).toContain(message);
  expect((await fetch(`${double.url}/health`)).status).toBe(200);
});

const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));
it.runIf(hasIPv6)("knows IPv6 addresses", async () => {
  const { double } = await started();
  const server = createServer((request, response) => response.end(`over IPv6 ${request.url}`));
  await new Promise<void>((done) => server.listen(0, "::1", done));
  onCleanup(() => server.close());
  const { port } = server.address() as AddressInfo;
  expect(await curl("-x", double.url, "--noproxy", "", `http://[::1]:${port}/a`)).toBe("over IPv6 /a");
  expect(await curl("-p", "-x", double.url, "--noproxy", "", `http://[::1]:${port}/b`)).toBe("over IPv6 /b");
});

it.each([
  ["HTTP/1.1 099 What\r\n\r\n", "502 Bad Gateway"],
  ["HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "502 Bad Gateway"],
  ["HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "502 Bad Gateway"],
])("survives a host that answers %j", async (answer, status) => {
  const { double } = await started();
  const port = await portOf(createTcpServer((socket) => socket.on("error", () => {}).end(answer)));
  const reply = await raw(double, `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  expect(reply).toContain(`HTTP/1.1 ${status}\r\n`);
  expect((await fetch(`${double.url}/health`)).status).toBe(200);
});

it("stops although a connection that passes through is open", async () => {
  const { double } = await started();
  const port = await portOf(createTcpServer((socket) => socket.on("error", () => {}).write("hello")));
  const socket = connect(double.port, "127.0.0.1");
  socket.on("error", () => {});
  const hello = new Promise<void>((done) => socket.on("data", (chunk) => String(chunk).endsWith("hello") && done()));
  const closed = new Promise<void>((done) => socket.on("close", () => done()));
  socket.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await hello;
  await double.stop();
  await closed;
});
