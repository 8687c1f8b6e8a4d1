// From the start of the command to its first answer, and what importing the library costs.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { BENCH, median, number, scratch, spread, summary, table, times } from "./harness.mjs";

const RUNS = Number(process.env.BENCH_STARTS ?? 15);

export async function start() {
  const bareScript = join(scratch, "bare.mjs");
  writeFileSync(
    bareScript,
    `import { createServer } from "node:http";
createServer((request, response) => response.end("{}")).listen(Number(process.argv[2]), "127.0.0.1");`,
  );
  const command = join(BENCH, "..", "dist", "cli", "main.js");
  const serve = (folder) => (port) => [command, "serve", folder, "--port", String(port), "--log-level", "silent"];
  const contenders = {
    "bare node:http": (port) => [bareScript, String(port)],
    "serve, 1 file": serve(folderOf(1)),
    "serve, 1,000 files": serve(folderOf(1000)),
  };
  const results = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (let run = 0; run < RUNS + 1; run++) {
    for (const [name, argumentsFor] of Object.entries(contenders)) {
      const ms = await timeToHealth(argumentsFor);
      // The first run fills the file system's cache.
      if (run > 0) results[name].push(ms);
    }
  }
  const bare = median(results["bare node:http"]);
  table(
    "From the start of the command to the first answered /health, ms (median of runs, least to most)",
    ["contender", "ms", "of bare"],
    Object.entries(results).map(([name, values]) => [name, spread(summary(values)), times(median(values) / bare)]),
  );

  const imports = {
    stuntdouble: join(BENCH, "..", "dist", "index.js"),
    aimock: import.meta.resolve("@copilotkit/aimock"),
  };
  const times_ = Object.fromEntries(Object.keys(imports).map((name) => [name, []]));
  for (let run = 0; run < RUNS + 1; run++) {
    for (const [name, path] of Object.entries(imports)) {
      const code = `const start = performance.now(); await import(${JSON.stringify(path)}); console.log(performance.now() - start)`;
      const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code]);
      if (run > 0) times_[name].push(Number(stdout));
    }
  }
  table(
    "Importing the library, ms (median of runs, least to most)",
    ["library", "ms"],
    Object.entries(times_).map(([name, values]) => [name, spread(summary(values), 1)]),
  );
}

function folderOf(files) {
  const folder = join(scratch, `fixtures-${files}`);
  mkdirSync(folder, { recursive: true });
  for (let file = 0; file < files; file++) {
    const fixtures = [{ match: { userMessage: `question ${file}` }, response: { content: `Answer ${number(file)}.` } }];
    writeFileSync(join(folder, `${file}.json`), JSON.stringify({ fixtures }, null, 2));
  }
  return folder;
}

async function timeToHealth(argumentsFor) {
  const port = await freePort();
  const begun = performance.now();
  const child = spawn(process.execPath, argumentsFor(port), { stdio: "ignore" });
  while (!(await answers(port))) await new Promise((resolve) => setTimeout(resolve, 1));
  const ms = performance.now() - begun;
  child.kill("SIGKILL");
  await once(child, "exit");
  return ms;
}

function answers(port) {
  return new Promise((resolve) => {
    const asked = request({ port, host: "127.0.0.1", path: "/health", agent: false }, (response) => {
      response.resume();
      response.on("end", () => resolve(true));
    });
    asked.on("error", () => resolve(false));
    asked.end();
  });
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
