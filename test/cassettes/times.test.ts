import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cassetteFiles } from "../../src/cassettes/folder.ts";
import type { ReplaySpeed } from "../../src/cassettes/replay.ts";
import { streamTimeline } from "../../src/cassettes/timeline.ts";
import type { Cassette, Trace } from "../../src/cassettes/types.ts";
import type { ArrivedChunk } from "../../src/dialects/exchange.ts";
import { readExchange } from "../../src/dialects/read-exchange.ts";
import { StuntDouble } from "../../src/index.ts";
import { dialects } from "../../src/services/registry.ts";
import { ManualClock } from "../../src/state/manual-clock.ts";
import { providerNames } from "../../src/upstream/providers.ts";
import { type ProviderCall, providerCalls } from "../support/provider-calls.ts";

const operations = dialects.flatMap((dialect) => dialect.operations);
const TEXT = "A text that is long enough to come in several pieces, whoever sends it.";

const root = mkdtempSync(join(tmpdir(), "stuntdouble-times-"));
let providers: Record<string, string>;
const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  const headers = request.headers as Record<string, string>;
  const answer = await provider.fetch(`http://provider${request.url}`, { method: "POST", headers, body });
  response.writeHead(answer.status, { "content-type": answer.headers.get("content-type")! });
  // Without its length, as streams are sent.
  response.write(Buffer.from(await answer.arrayBuffer()));
  response.end();
});
const provider = new StuntDouble({ chunkSize: 9 });
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  providers = Object.fromEntries(providerNames.map((name) => [name, `${url}/${name}`]));
  provider.on({ userMessage: "speak" }, { content: TEXT });
  provider.on({ inputText: "speak" }, { content: TEXT });
  // Under Fiber's name, for whatever is asked.
  cpSync("examples/cassettes/text-stream.json", join(root, "sea", "fixture_unknown_invoker_packing list.json"));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(root, { recursive: true, force: true });
});

interface Arrived {
  headers: [string, string][];
  chunks: ArrivedChunk[];
  /** When it was over. */
  endMs: number;
}

/** What comes of a call and when, on a clock that goes on only when nothing more is due. */
async function arrivals(
  folder: string,
  { path, body, headers }: ProviderCall,
  streamed: boolean,
  more: { speed: ReplaySpeed; chaosLatencyMs?: number; scenario?: string },
): Promise<Arrived> {
  const clock = new ManualClock();
  const double = new StuntDouble({ clock, cassettes: { mode: "replay", folder, ...more } });
  const arrived: Arrived = { headers: [], chunks: [], endMs: Number.NaN };
  let over = false;
  const run = async (): Promise<void> => {
    const response = await double.fetch(`http://double${path(streamed)}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body("speak", streamed)),
    });
    expect(response.status).toBe(200);
    arrived.headers = [...response.headers];
    for await (const bytes of response.body!) arrived.chunks.push({ atMs: clock.now(), bytes: bytes as Uint8Array });
    arrived.endMs = clock.now();
  };
  const running = run().finally(() => {
    over = true;
  });
  while (!over) {
    await new Promise(setImmediate);
    const [next] = clock.pending;
    if (!over && next !== undefined) clock.advance(next - clock.now());
  }
  await running;
  await double.stop();
  return arrived;
}

describe.each(providerCalls)("$title", (call) => {
  const operation = operations.find(({ name }) => name === call.operation)!;

  it("sends each recorded chunk at its recorded time", async () => {
    const folder = join(root, call.operation);
    const recording = await StuntDouble.start({
      record: { providers },
      cassettes: { mode: "record", folder, tickMs: 0 },
    });
    const live = await fetch(recording.url + call.path(true), {
      method: "POST",
      headers: { "content-type": "application/json", ...call.headers },
      body: JSON.stringify(call.body("speak", true)),
    });
    const bytes = Buffer.from(await live.arrayBuffer());
    await recording.stop();
    const [file] = cassetteFiles(folder);
    const cassette = JSON.parse(readFileSync(file!, "utf8")) as Cassette;
    const http = latest(cassette).stuntdouble!.http!;
    expect(http.times_ms!.length).toBeGreaterThan(3);
    // Times that no other place could give.
    http.times_ms = http.times_ms!.map((_, index) => 40.5 + index * index * 7);
    writeFileSync(file!, JSON.stringify(cassette));
    const real = await arrivals(folder, call, true, { speed: "real" });
    expect(Buffer.concat(real.chunks.map((chunk) => chunk.bytes)).equals(bytes)).toBe(true);
    expect(real.chunks.map(({ atMs }) => atMs)).toEqual(http.times_ms.map((ms) => expect.closeTo(ms, 6)));
    const quick = await arrivals(folder, call, true, { speed: 4, chaosLatencyMs: 3 });
    expect(quick.chunks.map(({ atMs }) => atMs)).toEqual(http.times_ms.map((ms) => expect.closeTo(3 + ms / 4, 6)));
    const atOnce = await arrivals(folder, call, true, { speed: "max" });
    expect(atOnce.endMs).toBe(0);
  });

  it("sends each frame of another dialect's timeline at its recorded time", async () => {
    const folder = join(root, "sea");
    const { chunks, headers } = await arrivals(folder, call, true, { speed: "real", scenario: "packing list" });
    const { frames, reply } = readExchange({ chunks, headers }, operation);
    const texts = streamTimeline(frames!, reply!, 0).filter(({ chunk }) => chunk !== "");
    expect(texts.map(({ delta_ms, chunk }) => [delta_ms, chunk])).toEqual(
      TIMELINE.map(({ delta_ms, chunk }) => [delta_ms, chunk]),
    );
  });

  it("sends what is not streamed when all of it had come", async () => {
    const { endMs } = await arrivals(join(root, "sea"), call, false, { speed: "real", scenario: "packing list" });
    expect(endMs).toBe(905.5);
  });
});

function latest({ traces, latest_trace_id: id }: Cassette): Trace {
  return traces[id]!;
}

const TIMELINE = latest(JSON.parse(readFileSync("examples/cassettes/text-stream.json", "utf8"))).response_timeline;
