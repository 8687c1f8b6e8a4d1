import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blockEnvironment } from "../../src/guard/network-block.ts";
import { provider } from "./support.ts";

const root = resolve(import.meta.dirname, "../..");
let project: string;
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "stuntdouble-published-"));
  mkdirSync(join(project, "node_modules"));
  symlinkSync(root, join(project, "node_modules", "stuntdouble"));
  for (const name of ["openai", "axios"])
    symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name));
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

async function run(file: string, text: string, environment: Record<string, string> = {}): Promise<string> {
  writeFileSync(join(project, file), text);
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ...environment };
  return (await promisify(execFile)(process.execPath, [file], { cwd: project, env })).stdout.trim();
}

function example(name: string): string {
  const text = readFileSync(join(root, "docs/in-process.md"), "utf8");
  const found = new RegExp(`^\`\`\`js ${name}\n(.*?)^\`\`\`$`, "ms").exec(text)?.[1];
  if (found === undefined) throw new Error(`docs/in-process.md has no example ${name} any more.`);
  return found;
}

describe("the package", () => {
  test("catches named imports of an ES module that were there first, and replays them", async () => {
    const upstream = await provider();
    const text = `
      import { request } from "node:https";
      import axios from "axios";
      import { vcr } from "stuntdouble/vcr";
      const body = JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "hello" }] });
      const headers = { "content-type": "application/json", authorization: "Bearer x" };
      const url = "https://api.openai.com/v1/chat/completions";
      const byNode = () => new Promise((done, fail) =>
        request(url, { method: "POST", headers }, async (reply) => {
          let text = "";
          for await (const chunk of reply) text += chunk;
          done(JSON.parse(text));
        }).on("error", fail).end(body));
      const options = { providers: { openai: process.env.UPSTREAM }, folder: "cassettes" };
      const replies = await vcr.use("named imports", options, async () => [
        await byNode(),
        (await axios.post(url, body, { headers })).data,
      ]);
      console.log(replies.map((reply) => reply.choices[0].message.content).join());`;
    expect(await run("named.mjs", text, { VCR_MODE: "record", UPSTREAM: upstream.url })).toBe(
      "Hi from afar!,Hi from afar!",
    );
    await upstream.stop();
    expect(await run("named.mjs", text, { VCR_MODE: "replay" })).toBe("Hi from afar!,Hi from afar!");
  });

  test("works from CommonJS", async () => {
    const text = `
      const { vcr, VcrError } = require("stuntdouble/vcr");
      const double = { fixtures: [{ match: {}, response: { content: "Hi!" } }] };
      vcr.use("commonjs", { mode: "replay", double }, async () => {
        const body = JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "hello" }] });
        const reply = await fetch("https://api.openai.com/v1/chat/completions", { method: "POST", body });
        console.log((await reply.json()).choices[0].message.content, typeof VcrError);
      });`;
    expect(await run("commonjs.cjs", text)).toBe("Hi! function");
  });

  test("does not load what catches calls until it is asked to", () => {
    const seen = new Set<string>();
    const packages = new Set<string>();
    const walk = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const [, name] of readFileSync(file, "utf8").matchAll(/(?:from|import)\s*["'`]([^"'`]+)["'`]/g)) {
        if (/^\.\.?\//.test(name!)) walk(join(dirname(file), name!));
        else packages.add(name!);
      }
    };
    for (const entry of ["index.js", "testing/vitest.js", "testing/node-test.js", "cli/main.js"])
      walk(join(root, "dist", entry));
    expect(seen.size).toBeGreaterThan(4);
    expect([...packages].filter((name) => name.startsWith("@mswjs") || name === "undici")).toEqual([]);
    walk(join(root, "dist/testing/vcr/index.js"));
    expect([...packages]).toContain("@mswjs/interceptors/ClientRequest");
  });

  test("does not lift what a process was started with", async () => {
    const text = `
      import { vcr } from "stuntdouble/vcr";
      vcr.network.unblock();
      await fetch("http://blocked.example").catch((error) => console.log(error.cause.message));`;
    const printed = await run("imposed.mjs", text, blockEnvironment({}, [{}]));
    expect(printed).toContain("the network is blocked");
  });
});

describe("the examples of the documentation", () => {
  test("checkout.mjs", async () => {
    const upstream = await provider();
    upstream.onMessage("order", { content: "It is." });
    // The provider is the only thing that a reader has and this test has not.
    const recording = example("checkout.mjs").replace(
      'vcr.use("checkout", ',
      `vcr.use("checkout", { providers: { openai: ${JSON.stringify(upstream.url)} } }, `,
    );
    expect(await run("checkout.mjs", recording)).toBe("It is.");
    await upstream.stop();
    expect(await run("checkout.mjs", example("checkout.mjs"))).toBe("It is.");
    expect(await run("checkout.mjs", example("checkout.mjs"), { CI: "1" })).toBe("It is.");
  });

  test("block.mjs", async () => {
    expect(await run("block.mjs", example("block.mjs"))).toBe("fetch failed ECONNREFUSED");
  });
});
