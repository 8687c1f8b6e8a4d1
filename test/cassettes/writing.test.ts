import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { inspect } from "../../src/cassettes/damage.ts";

const LIBRARY = pathToFileURL(resolve(process.env["STUNTDOUBLE_LIBRARY"] ?? "dist/index.js")).href;
const KILLS = Number(process.env["STUNTDOUBLE_KILLS"] ?? 20);

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}',
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "stuntdouble-writing-"));
  folders.push(folder);
  return folder;
}

function writer(folder: string, name: string, count: number, ...crashAt: number[]): ChildProcess {
  const args = ["test/cassettes/writer.mjs", LIBRARY, folder, name, String(count), ...crashAt.map(String)];
  return spawn(process.execPath, args, {
    env: { ...process.env, PROVIDER: url },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

const ended = (child: ChildProcess): Promise<string | number | null> =>
  new Promise((done) => child.once("exit", (code, signal) => done(signal ?? code)));

/** Every cassette in a folder is whole. @returns how many there are */
function allWhole(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json"));
  for (const file of files) expect(inspect(readFileSync(join(folder, file), "utf8")).damages, file).toEqual([]);
  return files.length;
}

describe("cassettes", () => {
  it("that four processes write into one scenario are all there", { timeout: 120_000 }, async () => {
    const folder = newFolder();
    const exits = await Promise.all(["a", "b", "c", "d"].map((name) => ended(writer(folder, name, 5))));
    expect(exits).toEqual([0, 0, 0, 0]);
    expect(allWhole(folder)).toBe(20);
    // Whoever comes next would wait for it.
    expect(existsSync(join(folder, "shared", ".lock"))).toBe(false);
  });

  it("are whole wherever a write fails, and a recording that is lost is told of", { timeout: 120_000 }, async () => {
    const folder = newFolder();
    const child = spawn(process.execPath, ["test/cassettes/faulty-writer.mjs", LIBRARY, folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout!.on("data", (chunk) => (said += String(chunk)));
    expect(await ended(child)).toBe(0);
    const lost = JSON.parse(said) as boolean[];
    expect(lost.length).toBeGreaterThan(10);
    expect(lost.filter((isLost) => isLost).length).toBeGreaterThan(5);
    for (const [index, isLost] of lost.entries()) {
      const own = join(folder, String(index + 1));
      expect(allWhole(own)).toBe(1);
      const [name] = readdirSync(join(own, "shared")).filter((entry) => entry.endsWith(".json"));
      const text = readFileSync(join(own, "shared", name!), "utf8");
      expect(text, `call ${index + 1}`).toContain('"chunk": "first"');
      if (!isLost) expect(text, `call ${index + 1}`).toContain('"chunk": "second"');
    }
  });

  it("are whole wherever their writer dies", { timeout: 900_000 }, async () => {
    const folder = newFolder();
    const whole = writer(join(folder, "whole"), "x", 2, 0);
    let said = "";
    whole.stdout!.on("data", (chunk) => (said += String(chunk)));
    expect(await ended(whole)).toBe(0);
    const steps = Number(said);
    expect(steps).toBeGreaterThan(10);
    for (let kill = 0; kill < KILLS; kill++) {
      // Its own folder each time, so that no writer waits for the lock of a dead one.
      const own = join(folder, String(kill));
      const step = 1 + Math.floor((kill * (steps - 1)) / KILLS);
      expect(await ended(writer(own, "x", 2, step)), `step ${step} of ${steps}`).toBe("SIGKILL");
      if (existsSync(own)) allWhole(own);
    }
  });
});
