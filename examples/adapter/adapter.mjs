// An adapter in a few lines: greets people by the names in its data folder, over JSON-RPC on stdio.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

let names = {};

const methods = {
  "greeter/open": ({ folder }) => {
    names = JSON.parse(readFileSync(join(folder, "names.json"), "utf8"));
    return { known: Object.keys(names).length, openedAt: new Date().toISOString() };
  },
  "greeter/greet": ({ who }) => {
    if (!Object.hasOwn(names, who)) throw { code: -32001, message: `nobody is called ${who}` };
    return { text: `Good day, ${names[who]}.` };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = { jsonrpc: "2.0", id };
  try {
    if (!methods[method]) throw { code: -32601, message: "method not found" };
    answer.result = methods[method](params);
  } catch (error) {
    answer.error = { code: error.code ?? -32603, message: error.message };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
});
