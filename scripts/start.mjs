// `npm start`: from a fresh clone to a server that answers.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { installPackages, run } from "./setup.mjs";

const COMMAND = "dist/cli/main.js";

installPackages();
if (!isBuilt()) run("npm", ["run", "--silent", "build"]);

const port = process.env.PORT ?? "4010";
const server = spawn(
  process.execPath,
  [COMMAND, "serve", "examples/fixtures", "--port", port, "--log-level", "debug"],
  {
    stdio: ["inherit", "inherit", "pipe"],
  },
);
let told = false;
server.stderr.on("data", (chunk) => {
  process.stderr.write(chunk);
  if (told || !String(chunk).includes("stuntdouble serves")) return;
  told = true;
  console.log(`
Try, in another terminal:

  curl http://127.0.0.1:${port}/v1/chat/completions -H 'content-type: application/json' \\
    -d '{"model": "gpt-5", "messages": [{"role": "user", "content": "hello"}]}'

  curl -N http://127.0.0.1:${port}/v1/messages -H 'content-type: application/json' \\
    -d '{"model": "claude-sonnet-4-5", "max_tokens": 100, "stream": true, "messages": [{"role": "user", "content": "hello"}]}'

  Or point a client at it: OPENAI_BASE_URL=http://127.0.0.1:${port}/v1  ANTHROPIC_BASE_URL=http://127.0.0.1:${port}
  What it answers to is in examples/fixtures; Ctrl+C stops it.
`);
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => server.kill(signal));
server.on("exit", (code) => process.exit(code ?? 0));

function isBuilt() {
  if (!existsSync(COMMAND)) return false;
  const built = statSync(COMMAND).mtimeMs;
  return newest("src") < built;
}

function newest(folder) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === "generated") continue;
    const path = join(folder, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}
