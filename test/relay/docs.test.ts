import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { loadFixtures } from "../../src/index.ts";
import { COMMAND, environment, type Run, stuntdouble } from "../run/support.ts";
import { chat, completion, folder, post, provider } from "./support.ts";

const PATH = "/v1/chat/completions";

function blocks(page: string, language: string): string[] {
  const text = readFileSync(page, "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, block]) => block!);
}

/** The words of a command, without its comment. */
const words = (line: string): string[] => line.replace(/#.*/, "").trim().split(/\s+/);

/** @param line of documentation that begins with `stuntdouble` */
async function serving(line: string, cwd: string, upstream: string): Promise<Run & { url: string }> {
  const [command, ...args] = words(line);
  expect(command).toBe("stuntdouble");
  const run = stuntdouble([...args, "--port", "0", "--provider-openai", upstream], { cwd });
  await run.tells("http://");
  return Object.assign(run, { url: /http:\/\/[\d.]+:\d+/.exec(run.errors())![0] });
}

async function stopped(run: Run): Promise<number | null> {
  run.kill("SIGINT");
  return (await run.ended()).code;
}

async function counting(): Promise<{ upstream: string; asked: () => number }> {
  let asked = 0;
  const upstream = await provider((_, response) =>
    response.setHeader("content-type", "application/json").end(completion(`answer ${++asked}`)),
  );
  return { upstream, asked: () => asked };
}

/** Runs an example in a process and a folder of its own, with what stands in the place of its `// …`. */
async function ran(example: string, cwd: string, body: string): Promise<string> {
  const file = join(cwd, "example.mjs");
  const library = pathToFileURL(COMMAND.replace("cli/main.js", "index.js")).href;
  writeFileSync(file, `import { StuntDouble } from "${library}";\n${example.replace("// …\n", body)}`);
  const child = spawn(process.execPath, [file], { cwd, env: environment(), stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  expect((await once(child, "close"))[0]).toBe(0);
  return output;
}

it("the two commands of docs/recording.md record on a first run, and replay", async () => {
  const [recording, replaying, ...rest] = blocks("docs/recording.md", "sh")[0]!.trim().split("\n");
  expect(rest).toEqual([]);
  const cwd = folder();
  const { upstream, asked } = await counting();
  for (const line of [recording!, replaying!]) {
    const run = await serving(line, cwd, upstream);
    expect(await (await post(run.url + PATH, chat("hi"))).text()).toBe(completion("answer 1"));
    expect(await stopped(run)).toBe(0);
  }
  expect(asked()).toBe(1);
});

it("the TypeScript of docs/recording.md records on a first run, and replays", async () => {
  const cwd = folder();
  const { upstream, asked } = await counting();
  const [example] = blocks("docs/recording.md", "ts");
  const at = example!.replace(`fixturePath: "./fixtures"`, `$&, providers: { openai: "${upstream}" }`);
  const body = `
    const body = JSON.stringify(${JSON.stringify(chat("hi"))});
    const reply = await fetch(double.url + "${PATH}", { method: "POST", headers: { "content-type": "application/json" }, body });
    process.stdout.write(await reply.text());\n`;
  for (const _ of ["first", "second"]) expect(await ran(at, cwd, body)).toBe(completion("answer 1"));
  expect(asked()).toBe(1);
  expect(loadFixtures(join(cwd, "fixtures"))).toHaveLength(1);
});

it("the commands of docs/proxy.md record on a first run, and replay", async () => {
  const cwd = folder();
  const { upstream, asked } = await counting();
  const [command, application] = blocks("docs/proxy.md", "sh")[0]!.trim().split("\n");
  const settings = Object.fromEntries(
    words(application!)
      .slice(0, -1)
      .map((word) => word.split("=")),
  );
  expect(Object.keys(settings)).toEqual(["HTTPS_PROXY", "NODE_EXTRA_CA_CERTS"]);
  for (const _ of ["first", "second"]) {
    const run = await serving(command!, cwd, upstream);
    const args = ["-sS", "--max-time", "20", "--cacert", settings["NODE_EXTRA_CA_CERTS"]!];
    const ask = ["-H", "content-type: application/json", "-d", JSON.stringify(chat("hi"))];
    const env = environment({ HTTPS_PROXY: settings["HTTPS_PROXY"]!.replace("http://127.0.0.1:4010", run.url) });
    const child = spawn("curl", [...args, ...ask, `https://api.openai.com${PATH}`], { cwd, env });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    await once(child, "close");
    expect(output).toBe(completion("answer 1"));
    expect(await stopped(run)).toBe(0);
  }
  expect(asked()).toBe(1);
  expect(readdirSync(join(cwd, "fixtures"))).toHaveLength(1);
});

it("the TypeScript of docs/proxy.md starts one", async () => {
  const cwd = folder();
  const [example] = blocks("docs/proxy.md", "ts");
  await ran(`${example}// …\n`, cwd, "await double.stop();\n");
  expect(existsSync(join(cwd, "ca", "ca.pem"))).toBe(true);
});
