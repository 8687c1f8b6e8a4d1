/**
 * What the conformance engine costs: 1,000 transcripts of ten exchanges against a target in this process, and 100
 * against processes beside the bare cost of starting and ending these. Needs a build.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const CASES = 1_000;
const EXCHANGES = 10;
const PROCESS_CASES = 100;
/** About a kilobyte, as a page of hits is. */
function answer(id, at) {
  const items = Array.from({ length: 8 }, (_, rank) => ({
    locator: `note:${id}-${rank}`,
    title: `A title of some words ${rank}`,
    score: 1 / (rank + 1),
    sections: [1, 2, 3],
  }));
  return { jsonrpc: "2.0", id, result: { items, total: items.length, at } };
}

const report = (figure, value, unit) => console.log(`${figure}: ${value.toFixed(1)} ${unit}`);
const timed = async (run) => {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
};

export async function conformance() {
  const built = resolve(process.env.STUNTDOUBLE_CONFORMANCE ?? "dist/conformance/index.js");
  const { command, functionChannel, loadSuite, Player, replay, verify } = await import(pathToFileURL(built).href);
  const root = mkdtempSync(join(tmpdir(), "stuntdouble-bench-"));

  function writeSuite(name, cases) {
    for (let index = 0; index < cases; index++) {
      const id = `case-${String(index).padStart(4, "0")}`;
      const dir = join(root, name, id);
      mkdirSync(dir, { recursive: true });
      const numbers = Array.from({ length: EXCHANGES }, (_, at) => at + 1);
      const manifest = {
        case: id,
        description: "bench",
        flow: "lockstep",
        placeholders: {},
        volatile: ["/result/at"],
        responses: EXCHANGES,
      };
      writeFileSync(join(dir, "manifest.json"), JSON.stringify(manifest));
      writeFileSync(
        join(dir, "request.jsonl"),
        numbers
          .map(
            (at) =>
              `${JSON.stringify({ jsonrpc: "2.0", id: at, method: "search", params: { query: `words ${at}`, limit: 10 } })}\n`,
          )
          .join(""),
      );
      writeFileSync(
        join(dir, "response.jsonl"),
        numbers.map((at) => `${JSON.stringify(answer(at, "<volatile>"))}\n`).join(""),
      );
    }
    return join(root, name);
  }

  // In process.
  const suite = writeSuite("in-process", CASES);
  let transcripts;
  report(
    `loading ${CASES} cases of ${EXCHANGES} exchanges, an exchange`,
    ((await timed(async () => {
      transcripts = await loadSuite(suite);
    })) *
      1000) /
      CASES /
      EXCHANGES,
    "µs",
  );

  // Every answer differs from the recording in what is volatile, so that each is masked, parsed and compared.
  const answers = Array.from({ length: EXCHANGES + 1 }, (_, id) => JSON.stringify(answer(id, "2026-01-01T00:00:00Z")));
  const live = () => functionChannel((text, send) => send(answers[JSON.parse(text).id]));
  const played = ({ case: name }) => {
    const player = new Player(transcripts.find((transcript) => transcript.manifest.case === name));
    return functionChannel((text, send) => {
      for (const frame of player.receive(text)) send(frame);
    });
  };
  const run = async (target) => {
    for (const transcript of transcripts)
      if (!(await replay(transcript, target, { workdir: root })).ok) throw new Error("A case failed.");
  };
  await run(live);
  const folders = await timed(async () => {
    const { mkdtemp, mkdir, rm } = await import("node:fs/promises");
    for (let at = 0; at < CASES; at++) {
      await mkdir(root, { recursive: true });
      await rm(await mkdtemp(join(root, "case-")), { recursive: true, force: true });
    }
  });
  const targetAlone = await timed(() => {
    for (let at = 0; at < CASES * EXCHANGES; at++) void answers[JSON.parse(transcripts[0].requests[at % EXCHANGES]).id];
  });
  const whole = await timed(() => run(live));
  report("replay in process, an exchange, all included", (whole * 1000) / CASES / EXCHANGES, "µs");
  report("of which making and removing the workdirs", (folders * 1000) / CASES / EXCHANGES, "µs");
  report("of which the target", (targetAlone * 1000) / CASES / EXCHANGES, "µs");
  report("engine cost an exchange", ((whole - folders - targetAlone) * 1000) / CASES / EXCHANGES, "µs");
  report(
    "replay against the player, an exchange, all included",
    ((await timed(() => run(played))) * 1000) / CASES / EXCHANGES,
    "µs",
  );

  // Against processes.
  const processSuite = writeSuite("processes", PROCESS_CASES);
  const adapter = join(root, "adapter.mjs");
  writeFileSync(
    adapter,
    `const answer = ${answer.toString()};
let rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\\n");
  rest = lines.pop();
  for (const line of lines) process.stdout.write(JSON.stringify(answer(JSON.parse(line).id, new Date().toISOString())) + "\\n");
});
`,
  );
  const bare = () =>
    new Promise((done) => {
      const child = spawn(process.execPath, [adapter], { stdio: ["pipe", "pipe", "pipe"] });
      child.stdout.resume();
      child.stderr.resume();
      child.stdin.end();
      child.on("close", done);
    });
  const jobs = availableParallelism();
  for (const width of [1, jobs]) {
    const starting = await timed(async () => {
      let left = PROCESS_CASES;
      await Promise.all(
        Array.from({ length: width }, async () => {
          while (left-- > 0) await bare();
        }),
      );
    });
    const verifying = await timed(async () => {
      const results = await verify(processSuite, command(process.execPath, [adapter]), { jobs: width, workdir: root });
      if (results.some((result) => !result.ok)) throw new Error("A case failed.");
    });
    report(`${PROCESS_CASES} processes started and ended, ${width} at a time`, starting, "ms");
    report(`${PROCESS_CASES} cases verified against processes, ${width} at a time`, verifying, "ms");
  }
  rmSync(root, { recursive: true, force: true });
}
