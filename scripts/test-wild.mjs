// `npm run test:wild`: real recordings of real providers, both ways. They are not part of the project; without
// them there is nothing to do. STUNTDOUBLE_WILD names their folder, ../shared/wild unless given. The last line counts.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { installPackages, run } from "./setup.mjs";

const recordings = resolve(process.env.STUNTDOUBLE_WILD ?? "../shared/wild");
if (!existsSync(recordings)) {
  console.log(`There are no recordings at ${recordings}. Set STUNTDOUBLE_WILD to the folder that holds them.`);
  console.log("0 passed, 0 failed");
  process.exit(0);
}
installPackages();
run("npm", ["run", "--silent", "generate"]);

const folder = mkdtempSync(join(tmpdir(), "stuntdouble-wild-"));
const tests = join(folder, "tests.json");
const report = join(folder, "report.json");
const { status } = spawnSync(
  "npx",
  [
    "vitest",
    "run",
    "--config",
    "vitest.wild.config.ts",
    "--reporter=dot",
    "--reporter=json",
    `--outputFile.json=${tests}`,
  ],
  { stdio: "inherit", env: { ...process.env, STUNTDOUBLE_WILD: recordings, STUNTDOUBLE_WILD_REPORT: report } },
);
let counts = { passed: 0, failed: 1 };
try {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    readFileSync(tests, "utf8"),
  );
  // A file that does not load has no test of its own to fail.
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.every((test) => test.status !== "failed"),
  );
  counts = { passed: numPassedTests, failed: numFailedTests + broken.length + numPendingTests + numTodoTests };
  const { rows, others } = JSON.parse(readFileSync(report, "utf8"));
  printOthers(others);
  console.table(Object.fromEntries(rows.map(({ name, ...row }) => [name, row])));
} catch (error) {
  console.error(`The tests left no report: ${error.message}`);
}
rmSync(folder, { recursive: true, force: true });
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(status !== 0 || counts.failed > 0 || counts.passed === 0 ? 1 : 0);

function printOthers(others) {
  const places = Object.entries(others);
  if (places.length === 0) return;
  console.log("\nWhat is no operation of any dialect (files, vector stores, skills), or no JSON:");
  for (const [place, count] of places) console.log(`${String(count).padStart(5)}  ${place}`);
}
