// A process of its own in which one call of the file system fails, another one each time: `node faulty-writer.mjs
// MODULE FOLDER`. In a folder of its own each time a take is recorded, and then another one with the fault. Says for
// each whether the second run told that its recording was lost.
import fs from "node:fs";
import { createServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import process from "node:process";

const [, , url, root] = process.argv;
const STEPS = ["mkdir", "open", "readFile", "readdir", "realpath", "rename", "rm", "stat"];
const HANDLE_STEPS = ["chmod", "close", "sync", "writeFile"];
let calls = 0;
let faultAt = Number.POSITIVE_INFINITY;
function breakable(object, step) {
  const real = object[step];
  object[step] = async (...args) => {
    const fails = ++calls === faultAt;
    // What fails to be closed is closed all the same.
    const result = fails && step !== "close" ? undefined : await real.apply(object, args);
    if (fails) throw Object.assign(new Error(`EIO: i/o error, ${step}`), { code: "EIO", syscall: step });
    return result;
  };
}
const open = fs.promises.open;
fs.promises.open = async (...args) => {
  const handle = await open(...args);
  for (const step of HANDLE_STEPS) breakable(handle, step);
  return handle;
};
for (const step of STEPS) breakable(fs.promises, step);
syncBuiltinESMExports();
const { StuntDouble } = await import(url);

let answer = "";
const provider = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "application/json" });
  response.end(
    `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"${answer}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
  );
});
await new Promise((done) => provider.listen(0, "127.0.0.1", done));
const record = { providers: { openai: `http://127.0.0.1:${provider.address().port}` } };

/** @returns how many calls of the file system there were, and whether the recording was lost */
async function run(folder, content, at) {
  answer = content;
  const double = await StuntDouble.start({
    record,
    cassettes: { mode: "record", folder, scenario: "shared" },
    onWarning() {},
  });
  const body = JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: "Hello" }] });
  calls = 0;
  faultAt = at;
  await (await double.fetch("http://double/v1/chat/completions", { method: "POST", body })).text();
  let lost = false;
  await double.stop().catch(() => {
    lost = true;
  });
  faultAt = Number.POSITIVE_INFINITY;
  return { calls, lost };
}

await run(join(root, "0"), "first", Number.POSITIVE_INFINITY);
const { calls: steps } = await run(join(root, "0"), "second", Number.POSITIVE_INFINITY);
const outcomes = [];
for (let step = 1; step <= steps; step++) {
  await run(join(root, String(step)), "first", Number.POSITIVE_INFINITY);
  outcomes.push((await run(join(root, String(step)), "second", step)).lost);
}
fs.writeSync(1, JSON.stringify(outcomes));
process.exit(0);
