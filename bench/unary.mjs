// A unary chat call: beside a bare server that parses the request and sends the same bytes, and beside aimock.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { requestOf } from "./fixtures.mjs";
import { number, rounds, SECONDS, scratch, spread, startServer, table, times } from "./harness.mjs";

const PATH = "/v1/chat/completions";
const CASES = [
  { count: 10, bytes: 1024, rival: true },
  { count: 10, bytes: 64 * 1024, rival: true },
  { count: 10_000, bytes: 1024, rival: true },
  // aimock takes seconds for as many of these at once as there are connections.
  { count: 10_000, bytes: 64 * 1024, rival: false },
  { count: 100_000, bytes: 1024, rival: false },
  { count: 100_000, bytes: 64 * 1024, rival: false },
];

export async function unary() {
  const rows = [];
  for (const { count, bytes, rival } of CASES) {
    const body = requestOf({ count, bytes });
    // The answer grows with the question: 1 KB and 64 KB go both ways.
    const settings = { count, replyCharacters: bytes - 400 };
    const product = await startServer("stuntdouble", settings);
    const reply = await fetch(`http://127.0.0.1:${product.port}${PATH}`, { method: "POST", body });
    const replyFile = join(scratch, "reply");
    writeFileSync(replyFile, Buffer.from(await reply.arrayBuffer()));
    const contenders = [await startServer("bare", { replyFile }), product];
    if (rival) contenders.push(await startServer("aimock", settings));
    const results = await rounds(contenders, { path: PATH, body, seconds: SECONDS });
    for (const contender of contenders) await contender.stop();
    const { bare, stuntdouble, aimock } = results;
    rows.push([
      `${number(count)} fixtures, ${bytes / 1024} KB`,
      spread(bare.rate),
      spread(stuntdouble.rate),
      aimock ? spread(aimock.rate) : "",
      times(stuntdouble.rate.median / bare.rate.median),
      aimock ? times(stuntdouble.rate.median / aimock.rate.median) : "",
      `${number(bare.cpuMicros.median)} / ${number(stuntdouble.cpuMicros.median)}${aimock ? ` / ${number(aimock.cpuMicros.median)}` : ""}`,
    ]);
  }
  table(
    "Unary chat, requests a second (median of rounds, least to most)",
    ["case", "bare node:http", "stuntdouble", "aimock", "of bare", "of aimock", "CPU µs a request"],
    rows,
  );
}
