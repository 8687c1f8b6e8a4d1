// Many streams at once, 50 chunks a second each, begun at different moments: how late is the server with a chunk,
// and how near to the ideal is a stream's end? Lateness is taken in the server, from the moment that an alarm was
// set for to the moment it rang; ends are taken by the client.
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { requestOf } from "./fixtures.mjs";
import { number, percentile, scratch, startServer, stayOnSecondCore, table } from "./harness.mjs";

const CHUNKS_PER_SECOND = 50;
const CHUNKS = 250;
// The role's chunk comes first and the finish last.
const CHARACTERS = (CHUNKS - 2) * 20;

export async function paced() {
  stayOnSecondCore();
  const rows = [];
  for (const streams of [1000, 2000]) {
    const latenessFile = join(scratch, `lateness-${streams}`);
    const server = await startServer("stuntdouble", {
      replyCharacters: CHARACTERS,
      streamingProfile: { ttft: 1000 / CHUNKS_PER_SECOND, tps: CHUNKS_PER_SECOND },
      measureLateness: true,
      latenessFile,
    });
    const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
    const ideal = (CHUNKS * 1000) / CHUNKS_PER_SECOND;
    const spreadMs = 2000;
    const cpuBefore = server.cpuMs();
    const ends = await Promise.all(
      Array.from({ length: streams }, async (_, index) => {
        await sleep((index * spreadMs) / streams);
        return readStream(server.port, agent);
      }),
    );
    const cpu = server.cpuMs() - cpuBefore;
    process.kill(server.pid, "SIGUSR2");
    await sleep(500);
    const lateness = JSON.parse(readFileSync(latenessFile, "utf8"));
    await server.stop();
    const off = ends.map((ms) => Math.abs(ms - ideal) / ideal);
    rows.push([
      number(streams),
      number(percentile(lateness, 0.5), 2),
      number(percentile(lateness, 0.99), 2),
      `${number(percentile(off, 0.5) * 100, 2)} %`,
      `${number(percentile(off, 0.99) * 100, 2)} %`,
      `${number((cpu / (ideal + spreadMs)) * 100)} %`,
    ]);
  }
  table(
    `Paced streams, ${CHUNKS_PER_SECOND} chunks a second each, begun over two seconds`,
    ["streams", "lateness p50, ms", "lateness p99, ms", "end off the ideal, p50", "p99", "of a core"],
    rows,
  );
}

/** Milliseconds from the head of a reply to its end. */
function readStream(port, agent) {
  return new Promise((resolve, reject) => {
    const asked = request(
      { port, host: "127.0.0.1", path: "/v1/chat/completions", method: "POST", agent },
      (response) => {
        const start = performance.now();
        response.on("data", () => {});
        response.on("end", () => resolve(performance.now() - start));
        response.on("error", reject);
      },
    );
    asked.on("error", reject);
    asked.end(requestOf({ stream: true }));
  });
}
