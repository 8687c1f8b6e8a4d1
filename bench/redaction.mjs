// `node bench/redaction.mjs`: processor time of redaction for text without secrets and with one.
import { runnerImport } from "vite";

const { module } = await runnerImport("./src/guard/redact.ts", { configFile: false, logLevel: "error" });
const redactor = await module.createRedactor();

const prose =
  "Tell me which of the three trains to Lyon is the cheapest one, and when it leaves the city on a weekday. ";
const bodyOf = (length) =>
  JSON.stringify({
    model: "gpt-4o-2024-08-06",
    max_completion_tokens: 1024,
    messages: Array.from({ length: Math.round(length / 330) }, (_, at) => ({
      role: at % 2 ? "assistant" : "user",
      content: `${prose}\n${prose}"${at}"`,
      tool_calls: [{ id: `call_${at}`, type: "function", function: { name: "find", arguments: '{"to":"Lyon"}' } }],
    })),
  });
const address = ["ada", "example.com"].join("@");

const cases = {
  "text, 1 KB, clean": [prose.repeat(10).slice(0, 1024), "text"],
  "text, 64 KB, clean": [prose.repeat(640).slice(0, 65_536), "text"],
  "JSON, 1 KB, clean": [bodyOf(1024), "json"],
  "JSON, 64 KB, clean": [bodyOf(65_536), "json"],
  "JSON, 1 KB, an address": [bodyOf(1024).replace("Lyon", address), "json"],
  "JSON, 64 KB, an address": [bodyOf(65_536).replace("Lyon", address), "json"],
};
for (const [name, [text, method]] of Object.entries(cases)) {
  const run = () => redactor.call()[method](text, "bench");
  const times = text.length > 10_000 ? 300 : 10_000;
  for (let at = 0; at < times; at++) run();
  const before = process.cpuUsage();
  for (let at = 0; at < times; at++) run();
  const { user } = process.cpuUsage(before);
  console.log(
    `${name.padEnd(26)} ${String(text.length).padStart(6)} characters ${(user / times).toFixed(1).padStart(9)} µs`,
  );
}
