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
  const counted = (object, step) => {
    const real = object[step];
    object[step] = (...args) => {
      if (++calls === Number(crashAt)) process.kill(process.pid, "SIGKILL");
      return real.apply(object, args);
    };
  };
  for (const step of steps) for (const form of [fs, fs.promises]) if (step in form) counted(form, step);
  const open = fs.promises.open;
  fs.promises.open = async (...args) => {
    const handle = await open(...args);
    for (const step of ["writeFile", "chmod", "sync", "close"]) counted(handle, step);
    return handle;
  };
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
