// What every benchmark uses: servers on the first core, load on the second, rounds that take turns, medians.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const BENCH = dirname(fileURLToPath(import.meta.url));
export const scratch = mkdtempSync(join(tmpdir(), "stuntdouble-bench-"));

const hasTaskset = spawnSync("sh", ["-c", "command -v taskset"]).status === 0;
const pin = (core, command) => (hasTaskset ? ["taskset", "-c", String(core), ...command] : command);

/** Keeps this process, which is the load, away from the servers' core. */
export function stayOnSecondCore() {
  if (hasTaskset) spawnSync("taskset", ["-acp", "1", String(process.pid)]);
}

/** Starts a server script of `servers/`, pinned to the first core; it prints its port when it is ready. */
export async function startServer(name, settings = {}, nodeFlags = []) {
  const [command, ...args] = pin(0, [
    process.execPath,
    ...nodeFlags,
    join(BENCH, "servers", `${name}.mjs`),
    JSON.stringify(settings),
  ]);
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  // A benchmark that fails must not leave its servers behind: they hold its output open.
  process.setMaxListeners(100).once("exit", () => child.kill("SIGKILL"));
  const [line] = await once(child.stdout, "data");
  const ready = JSON.parse(String(line).split("\n")[0]);
  return {
    ...ready,
    name,
    pid: child.pid,
    cpuMs: () => cpuMs(child.pid),
    async stop() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

/** User and system time of a process, in milliseconds; clock ticks are ten. */
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Each request has a number in the place that was found, in letters: long numbers look like what a guard is after. */
const NUMBERED = `local before, after, count = wrk.body:sub(1, from - 1), wrk.body:sub(to + 1), 0
request = function()
  count = count + 1
  local number = string.format("%0" .. (to - from + 1) .. "d", count):gsub("%d", function(digit) return string.char(97 + digit) end)
  return wrk.format(nil, nil, nil, before .. number .. after)
end`;

/**
 * Posts one body over and over with wrk on the second core. Gives requests a second and CPU time per request.
 * @param options `vary` is a part of the body in whose place each request has a number of its own
 */
export async function load(server, { path, body, headers = {}, seconds, connections = 64, vary }) {
  const bodyFile = join(scratch, "body");
  const script = join(scratch, "post.lua");
  writeFileSync(bodyFile, body);
  writeFileSync(
    script,
    [
      `local file = io.open("${bodyFile}", "rb")`,
      `wrk.method = "POST"`,
      `wrk.body = file:read("*a")`,
      ...Object.entries({ "content-type": "application/json", ...headers }).map(
        ([name, value]) => `wrk.headers["${name}"] = "${value}"`,
      ),
      ...(vary === undefined ? [] : [`local from, to = wrk.body:find("${vary}", 1, true)`, NUMBERED]),
    ].join("\n"),
  );
  const before = server.cpuMs();
  const [command, ...args] = pin(1, [
    "wrk",
    "-t1",
    `-c${connections}`,
    `-d${seconds}s`,
    "-s",
    script,
    `http://127.0.0.1:${server.port}${path}`,
  ]);
  const child = spawn(command, args);
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  await once(child, "exit");
  const cpu = server.cpuMs() - before;
  const requests = Number(/(\d+) requests in/.exec(output)?.[1] ?? 0);
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1] ?? 0);
  const bad = /Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? "0";
  if (requests === 0 || bad !== "0") throw new Error(`${server.name}: ${requests} requests, ${bad} refused\n${output}`);
  return { rate, cpuMicros: (cpu * 1000) / requests };
}

/** The same over HTTP/2 without TLS, by h2load. */
export async function loadOverHttp2(server, { path, body, headers = {}, seconds, connections = 64 }) {
  const bodyFile = join(scratch, "body");
  writeFileSync(bodyFile, body);
  const before = server.cpuMs();
  const [command, ...args] = pin(1, [
    "h2load",
    ...["-t1", `-c${connections}`, `-D${seconds}`, "-d", bodyFile],
    ...Object.entries({ "content-type": "application/json", ...headers }).flatMap(([name, value]) => [
      "-H",
      `${name}: ${value}`,
    ]),
    `http://127.0.0.1:${server.port}${path}`,
  ]);
  const child = spawn(command, args);
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  await once(child, "exit");
  const cpu = server.cpuMs() - before;
  const rate = Number(/, ([\d.]+) req\/s/.exec(output)?.[1] ?? 0);
  const good = Number(/status codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx/.exec(output)?.[1] ?? 0);
  if (good === 0) throw new Error(`${server.name}: not all were served\n${output}`);
  return { rate, cpuMicros: (cpu * 1000) / good };
}

/** Five rounds in which the contenders take turns, so that a slow moment of the machine hits them all. */
export async function rounds(contenders, options, { count = ROUNDS, loader = load } = {}) {
  const results = new Map(contenders.map((contender) => [contender.name, []]));
  for (const contender of contenders) await loader(contender, { ...options, seconds: 1 }).catch(() => {});
  for (let round = 0; round < count; round++) {
    for (const contender of contenders) results.get(contender.name).push(await loader(contender, options));
  }
  return Object.fromEntries(
    [...results].map(([name, runs]) => [
      name,
      { rate: summary(runs.map((run) => run.rate)), cpuMicros: summary(runs.map((run) => run.cpuMicros)) },
    ]),
  );
}

export const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 2);

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function summary(values) {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
}

export function percentile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** `12,345 (12,001 to 12,500)` */
export const spread = ({ median: middle, least, most }, digits = 0) =>
  `${number(middle, digits)} (${number(least, digits)} to ${number(most, digits)})`;
export const number = (value, digits = 0) =>
  value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
export const times = (value) => `${value.toFixed(2)} ×`;

export function table(title, head, rows) {
  console.log(`\n### ${title}\n`);
  console.log(`| ${head.join(" | ")} |`);
  console.log(`| ${head.map(() => "---").join(" | ")} |`);
  for (const row of rows) console.log(`| ${row.join(" | ")} |`);
}

/** A text of about so many characters, of words. */
export function words(characters) {
  const list = ["model", "answers", "quickly", "with", "plain", "words", "about", "weather", "and", "travel"];
  let text = "";
  for (let index = 0; text.length < characters; index++) text += `${list[(index * 7) % list.length]} `;
  return text.slice(0, characters);
}
