// `npm run test:newest`: the table of test/sdks.test.ts with the newest release of every SDK in it, on a current
// Node, against the built double. No part of `npm test`: it asks the package registry for what is new today, and a
// failure says that an SDK has changed, which is worth knowing but stops nobody's work.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { installPackages, run } from "./setup.mjs";

const NODE = process.env.NEWEST_NODE ?? "24";

installPackages();
if (!existsSync("dist/index.js")) run("npm", ["run", "--silent", "build"]);

const folder = mkdtempSync(join(tmpdir(), "stuntdouble-newest-"));
try {
  const packages = new Set();
  for (const [file, code] of withImports("test/sdks.test.ts")) {
    for (const [, name] of code.matchAll(/ from "(?!node:)((?:@[^/"]+\/)?[^./"][^/"]*)/g)) packages.add(name);
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    // Its folder has no sources: the tests go to what is built.
    writeFileSync(join(folder, file), code.replace('"../src/index.ts"', JSON.stringify(resolve("dist/index.js"))));
  }
  packages.delete("vitest");
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  cpSync(".npmrc", join(folder, ".npmrc"));
  const wanted = [...packages].sort().map((name) => `${name}@latest`);
  // SDKs of one family are released one after another, and their peers agree only days later.
  run("npm", ["install", "--no-audit", "--no-fund", "--legacy-peer-deps", "--silent", ...wanted], { cwd: folder });
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const [name, version] of Object.entries(dependencies)) {
    console.log(`${name} ${version.replace("^", "")} (here ${versionHere(name)})`);
  }
  symlinkSync(resolve("node_modules/vitest"), join(folder, "node_modules/vitest"));
  const vitest = [resolve("node_modules/vitest/vitest.mjs"), "run", "--root", folder, "--testTimeout", "30000"];
  const { status } = spawnSync("npx", ["-y", "-p", `node@${NODE}`, "node", ...vitest], {
    cwd: folder,
    stdio: "inherit",
    env: { ...process.env, CI: "true", STUNTDOUBLE_NEWEST_SDKS: "true" },
  });
  process.exitCode = status === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A test and all that it imports of the tests: their text by their path. */
function withImports(file, found = new Map()) {
  if (found.has(file)) return found;
  const code = readFileSync(file, "utf8");
  found.set(file, code);
  for (const [, path] of code.matchAll(/ from "(\.[^"]+)"/g)) {
    const imported = join(dirname(file), path);
    if (imported.startsWith("test/")) withImports(imported, found);
  }
  return found;
}

function versionHere(name) {
  return JSON.parse(readFileSync(join("node_modules", name, "package.json"), "utf8")).version;
}
