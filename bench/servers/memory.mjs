import { Agent, request } from "node:http";
import { StuntDouble } from "../../dist/index.js";
import { fixturesOf, requestOf } from "../fixtures.mjs";

const calls = Number(process.argv[2]);
const double = await StuntDouble.start({ fixtures: fixturesOf({ count: 10 }) });
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const unary = requestOf({});
const streamed = requestOf({ stream: true });

function call(index) {
  return new Promise((resolve, reject) => {
    const asked = request(
      { port: double.port, host: "127.0.0.1", path: "/v1/chat/completions", method: "POST", agent },
      (response) => {
        response.on("data", () => {});
        response.on("end", resolve);
      },
    );
    // Every call names a test of its own, every tenth is a stream.
    asked.setHeader("x-test-id", `test-${index}`);
    asked.on("error", reject);
    asked.end(index % 10 === 0 ? streamed : unary);
  });
}

let next = 0;
async function run(until) {
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (next < until) await call(next++);
    }),
  );
}

const samples = [];
// What is filled once (journal, counts, caches, compiled code) is filled before the first sample.
await run(calls / 10);
for (let step = 1; step <= 9; step++) {
  await run(calls / 10 + (step * calls) / 10);
  for (let round = 0; round < 3; round++) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  samples.push({ calls: next, bytes: process.memoryUsage().heapUsed });
}
console.log(JSON.stringify(samples));
process.exit(0);
