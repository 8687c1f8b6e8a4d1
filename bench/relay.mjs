// A call that goes through to a provider: what the relay adds to the first byte, and what it costs, beside aimock's.
import { writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { requestOf } from "./fixtures.mjs";
import { median, rounds, SECONDS, scratch, spread, startServer, summary, table, times, words } from "./harness.mjs";

const PATH = "/v1/chat/completions";
const CASES = [
  { name: "1 KB", bytes: 1024, stream: false },
  { name: "64 KB", bytes: 64 * 1024, stream: false },
  { name: "stream of 100 events", bytes: 1024, stream: true },
];
const CALLS = Number(process.env.BENCH_CALLS ?? 400);
/** Until all of them run as fast as they will: a call after call on one connection compiles slowly. */
const WARM_UP_CALLS = CALLS * 8;
const TURNS = 5;

export async function relay() {
  const rows = [];
  for (const { name, bytes, stream } of CASES) {
    const body = requestOf({ bytes, stream });
    const replyFile = join(scratch, "provider-reply");
    writeFileSync(replyFile, stream ? events() : completion(bytes));
    const contentType = stream ? "text/event-stream" : "application/json";
    const provider = await startServer("bare", { replyFile, contentType });
    const upstream = `http://127.0.0.1:${provider.port}`;
    const product = await startServer("relay", { upstream });
    const rival = await startServer("relay-aimock", { upstream });
    const first = await firstBytes({ provider, product, rival }, body);
    const load = await rounds([product, rival], { path: PATH, body, seconds: SECONDS });
    for (const server of [product, rival, provider]) await server.stop();
    const { relay: own, "relay-aimock": other } = load;
    rows.push([
      name,
      spread(first.product, 0),
      spread(first.rival, 0),
      times(first.product.median / first.rival.median),
      spread(own.cpuMicros),
      spread(other.cpuMicros),
      times(own.cpuMicros.median / other.cpuMicros.median),
    ]);
  }
  table(
    "Relay: µs added to the first byte, and CPU µs a request (median of rounds, least to most)",
    ["case", "first byte, stuntdouble", "aimock", "of aimock", "CPU, stuntdouble", "aimock", "of aimock"],
    rows,
  );
}

/** What each relay adds to the provider's own time to the first byte, one call after another, in turns. */
async function firstBytes(servers, body) {
  const added = { product: [], rival: [] };
  for (const server of Object.values(servers)) await medianOfCalls(server, body, WARM_UP_CALLS);
  for (let turn = 0; turn < TURNS; turn++) {
    const direct = await medianOfCalls(servers.provider, body, CALLS);
    for (const name of ["product", "rival"])
      added[name].push((await medianOfCalls(servers[name], body, CALLS)) - direct);
  }
  return { product: summary(added.product), rival: summary(added.rival) };
}

async function medianOfCalls({ port }, body, count) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const took = [];
  for (let call = 0; call < count; call++) took.push(await firstByte(port, body, agent));
  agent.destroy();
  return median(took);
}

/** In microseconds. */
function firstByte(port, body, agent) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const start = process.hrtime.bigint();
    const call = request({ port, host: "127.0.0.1", path: PATH, method: "POST", agent, headers }, (response) => {
      let took;
      response.once("data", () => {
        took = Number(process.hrtime.bigint() - start) / 1000;
      });
      response.on("end", () =>
        response.statusCode === 200 ? resolve(took) : reject(new Error(`status ${response.statusCode}`)),
      );
      response.resume();
    });
    call.on("error", reject);
    call.end(body);
  });
}

function completion(bytes) {
  const message = { role: "assistant", content: words(bytes - 250) };
  const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
  return JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "gpt-4o",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage,
  });
}

function events() {
  const chunk = (delta, finish = null) =>
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "gpt-4o", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const text = Array.from({ length: 100 }, () => chunk({ content: words(20) })).join("");
  return `${text}${chunk({}, "stop")}data: [DONE]\n\n`;
}
