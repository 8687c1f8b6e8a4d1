// `npm test`: everything that has to hold, from a fresh clone. The last line counts.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installDebianPackages, installPackages, run } from "./setup.mjs";

const npmRun = (name) => run("npm", ["run", "--silent", name]);

installPackages();
installDebianPackages({
  curl: "curl",
  python3: "python3",
  ...(process.platform === "linux" && { unshare: "util-linux", ip: "iproute2" }),
});
npmRun("generate");
npmRun("lint");
npmRun("types");
npmRun("build");
npmRun("check:package");

const folder = mkdtempSync(join(tmpdir(), "stuntdouble-test-"));
const report = join(folder, "report.json");
const { status } = spawnSync(
  "npx",
  ["vitest", "run", "--reporter=dot", "--reporter=json", `--outputFile.json=${report}`],
  {
    stdio: "inherit",
  },
);
let counts = { passed: 0, failed: 1 };
try {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    readFileSync(report, "utf8"),
  );
  // A file that does not load has no test of its own to fail.
  const broken = testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.every((test) => test.status !== "failed"),
  );
  counts = { passed: numPassedTests, failed: numFailedTests + broken.length + numPendingTests + numTodoTests };
} catch (error) {
  console.error(`The tests left no report: ${error.message}`);
}
rmSync(folder, { recursive: true, force: true });
// What is thrown outside a test fails the run without failing a test.
if (status !== 0 && counts.failed === 0) counts.failed = 1;
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(status !== 0 || counts.failed > 0 || counts.passed === 0 ? 1 : 0);
