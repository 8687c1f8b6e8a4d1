// A process of its own that writes takes into a scenario: `node writer.mjs MODULE FOLDER NAME COUNT [CRASH_AT]`. With
// CRASH_AT it kills itself at that call of the file system, and says how many there were if it gets to the end.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import process from "node:process";

const [, , url, folder, name, count, crashAt] = process.argv;
let calls = 0;
if (crashAt !== undefined) {
  const steps = [
    "open",
    "write",
    "fsync",
    "close",
    "rename",
    "mkdir",
    "rmdir",
    "utimes",
    "readdir",
    "readFile",
    "chown",
    "chmod",
  ];
  for (const step of steps) {
    const real = fs[step];
    fs[step] = (...args) => {
      if (++calls === Number(crashAt)) process.kill(process.pid, "SIGKILL");
      return real(...args);
    };
  }
  syncBuiltinESMExports();
}
const { StuntDouble } = await import(url);
const double = await StuntDouble.start({
  record: { providers: { openai: process.env.PROVIDER } },
  cassettes: { mode: "record", folder, scenario: "shared" },
});
await Promise.all(
  Array.from({ length: Number(count) }, async (_, index) => {
    const response = await fetch(`${double.url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: `${name} ${index}` }] }),
    });
    await response.text();
  }),
);
await double.stop();
if (crashAt !== undefined) fs.writeSync(1, String(calls));
process.exit(0);
