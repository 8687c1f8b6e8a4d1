// What a guard costs a matched call and a matched stream in which it finds nothing: beside the same double without one.
import { requestOf } from "./fixtures.mjs";
import { number, rounds, SECONDS, spread, startServer, table } from "./harness.mjs";

const PATH = "/v1/chat/completions";
// Each request has a number of its own: one that has been looked at before is remembered.
const CASES = [
  { name: "1 KB", bytes: 1024, stream: false },
  { name: "1 KB, the same again and again", bytes: 1024, stream: false, same: true },
  { name: "1 KB, streamed", bytes: 1024, stream: true },
  { name: "64 KB", bytes: 64 * 1024, stream: false },
  { name: "64 KB, streamed", bytes: 64 * 1024, stream: true },
];
const VARY = "You are brief.";
/** Everything that is looked for by default, in both directions, and limits besides. */
const guard = {
  rules: [{ action: "block" }],
  breaker: { call: { outputCharacters: 1_000_000, toolCalls: 100 }, run: { outputTokens: 1e12 } },
};

export async function guards() {
  const rows = [];
  for (const { name, bytes, stream, same } of CASES) {
    const settings = { count: 10, replyCharacters: bytes };
    const plain = { ...(await startServer("stuntdouble", settings)), name: "plain" };
    const guarded = { ...(await startServer("stuntdouble", { ...settings, options: { guard } })), name: "guarded" };
    const body = requestOf({ count: 10, bytes, stream });
    const results = await rounds([plain, guarded], {
      path: PATH,
      body,
      seconds: SECONDS,
      ...(!same && { vary: VARY }),
    });
    for (const server of [plain, guarded]) await server.stop();
    // By time on the server's core: making different requests keeps the load busier than the server.
    const lost = 1 - results.plain.cpuMicros.median / results.guarded.cpuMicros.median;
    rows.push([
      name,
      spread(results.plain.rate),
      spread(results.guarded.rate),
      `${number(lost * 100, 1)} %`,
      `${number(results.plain.cpuMicros.median, 1)} / ${number(results.guarded.cpuMicros.median, 1)}`,
    ]);
  }
  table(
    "Guards on matched calls, requests a second (median of rounds, least to most; limit 5 % at 1 KB)",
    ["request and reply", "without", "with all detectors and limits", "lost", "CPU µs a request"],
    rows,
  );
}
