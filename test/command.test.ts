import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeCertificate } from "../src/server/certificate.ts";

const COMMAND = new URL("../dist/cli/main.js", import.meta.url).pathname;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "stuntdouble-command-"));
  writeFileSync(
    join(folder, "greeting.json"),
    JSON.stringify({ fixtures: [{ match: { userMessage: "hello" }, response: { content: "Hi!" } }] }),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

function run(...flags: string[]): ChildProcess & { output: () => string } {
  const child = spawn(process.execPath, [COMMAND, ...flags], { cwd: folder, env: { ...process.env, NO_COLOR: "1" } });
  running.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  return Object.assign(child, { output: () => output });
}

async function end(child: ChildProcess): Promise<number> {
  const [code] = (await once(child, "close")) as [number];
  return code;
}

/** Waits for the line that names the address, and gives it. */
async function served(child: ReturnType<typeof run>): Promise<string> {
  for (;;) {
    const found = /https?:\/\/[\w.:[\]]+/.exec(child.output());
    if (found !== null) return found[0];
    await Promise.race([
      once(child.stderr!, "data"),
      once(child, "close").then(() => Promise.reject(new Error(child.output()))),
    ]);
  }
}

const hello = { model: "gpt-4o", messages: [{ role: "user", content: "hello" }] };

async function ask(url: string, body: object = hello): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) });
}

describe("stuntdouble serve", () => {
  it("serves files, logs what it is asked to, and stops by a signal", async () => {
    const child = run("serve", "greeting.json", "-p", "0", "--log-level", "debug");
    const url = await served(child);
    expect(child.output()).toContain("serves 1 fixture on");
    const reply = await (await ask(url)).json();
    expect(reply).toMatchObject({ choices: [{ message: { content: "Hi!" } }] });
    expect((await ask(url, { ...hello, messages: [{ role: "user", content: "what?" }] })).status).toBe(404);
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: "ok" });
    child.kill("SIGTERM");
    expect(await end(child)).toBe(0);
    expect(child.output()).toMatch(/200 POST \/v1\/chat\/completions/);
    expect(child.output()).toMatch(/404 POST \/v1\/chat\/completions/);
    expect(child.output()).not.toContain("/health");
  });

  it("shows a miss, but no line a request, where nobody watches", async () => {
    const child = run("serve", "greeting.json", "-p", "0");
    const url = await served(child);
    await ask(url);
    await ask(url, { ...hello, messages: [{ role: "user", content: "what?" }] });
    child.kill("SIGINT");
    expect(await end(child)).toBe(0);
    expect(child.output()).not.toMatch(/200 POST/);
    expect(child.output()).toMatch(/404 POST/);
  });

  it("gives the same bytes in two runs with one seed", async () => {
    const texts: string[] = [];
    for (let turn = 0; turn < 2; turn++) {
      const child = run("serve", "greeting.json", "-p", "0", "--seed", "7");
      const url = await served(child);
      const answers = [await ask(url), await ask(url, { ...hello, stream: true })];
      texts.push((await Promise.all(answers.map((answer) => answer.text()))).join("\n"));
    }
    expect(texts[0]).toBe(texts[1]);
    expect(texts[0]).toContain('"created":1735689600');
  });

  it("serves HTTPS with a certificate of its own and with one that it is given", async () => {
    const made = await makeCertificate();
    writeFileSync(join(folder, "cert.pem"), made.cert);
    writeFileSync(join(folder, "key.pem"), made.key);
    const own = run("serve", "greeting.json", "-p", "0", "--tls");
    const given = run("serve", "greeting.json", "-p", "0", "--tls-cert", "cert.pem", "--tls-key", "key.pem");
    const health = (url: string, trust: object): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        request(`${url.replace("127.0.0.1", "localhost")}/health`, trust, (response) => resolve(response.statusCode))
          .on("error", reject)
          .end();
      });
    expect(await health(await served(own), { rejectUnauthorized: false })).toBe(200);
    expect(await health(await served(given), { ca: made.cert })).toBe(200);
    await expect(health(await served(own), { ca: made.cert })).rejects.toThrow();
  });

  it("says at its end what was served, what missed and what nobody asked for", async () => {
    writeFileSync(
      join(folder, "more.json"),
      JSON.stringify({
        fixtures: [
          { id: "greeting", match: { userMessage: "hello" }, response: { content: "Hi!" } },
          { id: "farewell", match: { userMessage: "goodbye" }, response: { content: "Bye!" } },
        ],
      }),
    );
    const child = run("serve", "more.json", "-p", "0");
    const url = await served(child);
    await ask(url);
    for (let call = 0; call < 2; call++) await ask(url, { ...hello, messages: [{ role: "user", content: "what?" }] });
    child.kill("SIGTERM");
    expect(await end(child)).toBe(0);
    expect(child.output()).toContain("served 1 call, missed 2, 1 fixture unused");
    expect(child.output()).toMatch(/missed POST \/v1\/chat\/completions: No fixture matched.*\(2 times\)/);
    expect(child.output()).toMatch(/unused farewell/);
    rmSync(join(folder, "more.json"));
  });

  it("behaves as its flags say", async () => {
    const strict = run(
      "serve",
      "greeting.json",
      "-p",
      "0",
      "--strict",
      "--metrics",
      "--api-key",
      "one",
      "--api-key",
      "two",
    );
    const url = await served(strict);
    const asked = (content: string, key: string): Promise<Response> =>
      fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ ...hello, messages: [{ role: "user", content }] }),
      });
    expect((await asked("hello", "two")).status).toBe(200);
    expect((await asked("what?", "one")).status).toBe(503);
    expect((await asked("hello", "three")).status).toBe(401);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('stuntdouble_answers_total{source="miss"} 1');

    const chaotic = run(
      ...["serve", "greeting.json", "-p", "0", "--metrics-compat", "--rate-limit-headers", "--journal-max", "1"],
      ...["--chaos-rate-limit", "1", "--chaos-latency", "1", "--replay-speed", "2"],
    );
    const other = await served(chaotic);
    expect((await ask(other)).status).toBe(429);
    expect((await ask(other)).headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect(await (await fetch(`${other}/metrics`)).text()).toContain("aimock_requests_total{");
    expect(await (await fetch(`${other}/__stuntdouble/journal`)).json()).toHaveLength(1);
    expect(await (await fetch(`${other}/__stuntdouble/chaos`)).json()).toEqual({
      chaos: { rateLimitRate: 1, latencyMs: 1 },
    });
  });

  it.each([
    ["a chance that is none", ["serve", "--chaos-drop", "1.5"], /number from 0 to 1/],
    ["an empty key", ["serve", "--api-key", ""], /none of them empty/],
    ["a speed that is none", ["serve", "--replay-speed", "0"], /number from 0\.001/],
    ["a journal that is none", ["serve", "--journal-max", "-1"], /whole number/],
    ["an unknown flag", ["serve", "--prot", "1"], /unknown option '--prot'[\s\S]*--port/],
    ["a port that is none", ["serve", "-p", "70000"], /whole number from 0 to 65535/],
    ["an unknown log level", ["serve", "--log-level", "loud"], /Expected one of silent, warn, info, debug/],
    ["a path that is not there", ["serve", "missing.json"], /missing\.json/],
    ["a certificate without its key", ["serve", "--tls-cert", "cert.pem"], /--tls-cert and --tls-key go together/],
    [
      "a certificate that is not there",
      ["serve", "--tls-cert", "no.pem", "--tls-key", "no.pem"],
      /cannot read no\.pem/,
    ],
    ["an address that is not this machine's", ["serve", "-h", "192.0.2.1", "-p", "0"], /no address of this machine/],
    ["an unknown command", ["sevre"], /unknown command 'sevre'/],
  ])("says what is wrong with %s, and exits with 2", async (_, flags, message) => {
    const child = run(...flags);
    expect(await end(child)).toBe(2);
    expect(child.output()).toMatch(message);
    expect(child.output()).not.toMatch(/\n\s+at /);
  });

  it("says every fault of every file, and exits with 2", async () => {
    writeFileSync(
      join(folder, "broken.json"),
      '{"fixtures": [{"match": {"userMesage": "x"}, "response": {"content": "y"}}]}',
    );
    writeFileSync(join(folder, "torn.json"), '{"fixtures": [');
    const child = run("serve", "broken.json", "torn.json");
    expect(await end(child)).toBe(2);
    expect(child.output()).toContain("broken.json");
    expect(child.output()).toContain("did you mean userMessage?");
    expect(child.output()).toContain("torn.json");
    rmSync(join(folder, "broken.json"));
    rmSync(join(folder, "torn.json"));
  });

  it("says that a port is in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const child = run("serve", "greeting.json", "-p", String(port));
    expect(await end(child)).toBe(2);
    expect(child.output()).toContain(`Port ${port} on 127.0.0.1 is in use`);
    other.close();
  });
});
