// Replay from a folder of ten thousand cassettes: opening it, and what a call costs, the first cassette and the last.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StuntDouble } from "../dist/index.js";

const CASSETTES = 10_000;
const CALLS = 2_000;

export async function cassettes() {
  const folder = mkdtempSync(join(tmpdir(), "stuntdouble-bench-cassettes-"));
  try {
    await record(folder);
    const started = performance.now();
    const double = await StuntDouble.start({ cassettes: { mode: "replay", folder, repeat: "last" } });
    console.log(`cassettes: opening ${CASSETTES}: ${(performance.now() - started).toFixed(0)} ms`);
    for (const [name, number] of [
      ["first", 0],
      ["ten-thousandth", CASSETTES - 1],
    ]) {
      const ask = { method: "POST", body: bodyOf(number), headers: { "content-type": "application/json" } };
      for (const [way, call, limit] of [
        ["in process", () => double.fetch("http://double/v1/chat/completions", ask), 0.1],
        ["over the socket", () => fetch(`${double.url}/v1/chat/completions`, ask), 1],
      ]) {
        const cold = await timed(call, 1);
        await timed(call, CALLS);
        const warm = await timed(call, CALLS);
        console.log(
          `cassettes: ${name}, ${way}: ${warm.toFixed(3)} ms a call (limit ${limit}), ${cold.toFixed(2)} ms when first read`,
        );
      }
    }
    await double.stop();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function timed(call, times) {
  const started = performance.now();
  for (let index = 0; index < times; index++) {
    const response = await call();
    if (response.status !== 200) throw new Error(`Status ${response.status}: ${await response.text()}`);
    await response.text();
  }
  return (performance.now() - started) / times;
}

function bodyOf(number) {
  return JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: `question ${number}` }] });
}

/** Two are recorded; the others are copies under other fingerprints, in the same folder. */
async function record(folder) {
  const provider = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}',
    );
  });
  await new Promise((done) => provider.listen(0, "127.0.0.1", done));
  const { port } = provider.address();
  const double = await StuntDouble.start({
    record: { providers: { openai: `http://127.0.0.1:${port}` } },
    cassettes: { mode: "record", folder },
  });
  for (const number of [0, CASSETTES - 1]) {
    await (await fetch(`${double.url}/v1/chat/completions`, { method: "POST", body: bodyOf(number) })).text();
  }
  await double.stop();
  provider.close();
  mkdirSync(join(folder, "auto"), { recursive: true });
  for (let number = 3; number <= CASSETTES; number++) {
    const digits = number.toString(16).padStart(8, "0");
    writeFileSync(join(folder, "auto", `${String(number).padStart(2, "0")}-question-${digits}.json`), "{}");
  }
}
