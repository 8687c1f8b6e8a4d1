// `npm run soak`: what takes too long for every run of the tests. 200 processes die in the middle of a write.
import { spawnSync } from "node:child_process";
import { installPackages, run } from "./setup.mjs";

installPackages();
run("npm", ["run", "--silent", "build"]);
const { status } = spawnSync("npx", ["vitest", "run", "test/cassettes/writing.test.ts"], {
  stdio: "inherit",
  env: { ...process.env, STUNTDOUBLE_KILLS: "200" },
});
process.exit(status ?? 1);
