// What a fresh machine needs before anything else runs: the packages, once, and again when the lock file changed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const MARK = "node_modules/.stuntdouble-installed";

/** Runs a command with its output shown. Ends the process if it fails. */
export function run(command, args, options = {}) {
  const { status, error, signal } = spawnSync(command, args, { stdio: "inherit", ...options });
  if (error !== undefined) {
    console.error(`${command}: ${error.message}`);
    process.exit(1);
  }
  if (status !== 0) {
    console.error(`${[command, ...args].join(" ")} ended with ${signal ?? status}.`);
    process.exit(status ?? 1);
  }
}

/** Installs the packages of the lock file, if they are not there already. */
export function installPackages() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(`Stuntdouble needs Node 20.19 or later; this is ${process.versions.node}.`);
    process.exit(1);
  }
  const lock = createHash("sha256").update(readFileSync("package-lock.json")).digest("hex");
  if (existsSync(MARK) && readFileSync(MARK, "utf8") === lock) return;
  run("npm", ["ci", "--no-audit", "--no-fund"], { stdio: ["ignore", "ignore", "inherit"] });
  writeFileSync(MARK, lock);
}

/** Installs Debian packages that are missing, where root has apt-get; elsewhere says what is missing. */
export function installDebianPackages(wanted) {
  const missing = Object.entries(wanted)
    .filter(([command]) => spawnSync("sh", ["-c", `command -v ${command}`]).status !== 0)
    .map(([, name]) => name);
  if (missing.length === 0) return;
  const canInstall = process.getuid?.() === 0 && spawnSync("sh", ["-c", "command -v apt-get"]).status === 0;
  if (canInstall) {
    const quiet = {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    };
    run("apt-get", ["update", "-q"], quiet);
    run("apt-get", ["install", "-y", "-q", "--no-install-recommends", ...missing], quiet);
    return;
  }
  console.error(
    `Missing: ${missing.join(", ")}. Install ${missing.length === 1 ? "it" : "them"} with your system's package manager.`,
  );
  if (process.env.CI === "true") process.exit(1);
}
