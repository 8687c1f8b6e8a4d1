// `npm run bench [NAME…]`: all benchmarks, or those named. They want a quiet machine with two cores.
import { cpus } from "node:os";
import { installDebianPackages } from "../scripts/setup.mjs";

const BENCHMARKS = {
  matching: () => import("./matching.mjs").then((part) => part.matching()),
  unary: () => import("./unary.mjs").then((part) => part.unary()),
  stream: () => import("./stream.mjs").then((part) => part.stream()),
  dialects: () => import("./dialects.mjs").then((part) => part.dialects()),
  relay: () => import("./relay.mjs").then((part) => part.relay()),
  paced: () => import("./paced.mjs").then((part) => part.paced()),
  start: () => import("./start.mjs").then((part) => part.start()),
  conformance: () => import("./conformance.mjs").then((part) => part.conformance()),
  contracts: () => import("./contracts.mjs").then((part) => part.contracts()),
  cassettes: () => import("./cassettes.mjs").then((part) => part.cassettes()),
  guards: () => import("./guards.mjs").then((part) => part.guards()),
  memory: () => import("./memory.mjs").then((part) => part.memory()),
};

installDebianPackages({ wrk: "wrk", taskset: "util-linux" });
const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in BENCHMARKS));
if (unknown.length > 0) {
  console.error(`No such benchmark: ${unknown.join(", ")}. There are ${Object.keys(BENCHMARKS).join(", ")}.`);
  process.exit(2);
}
console.log(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus()[0].model}, ${cpus().length} cores`,
);
for (const [name, benchmark] of Object.entries(BENCHMARKS)) {
  if (names.length === 0 || names.includes(name)) await benchmark();
}
process.exit(0);
