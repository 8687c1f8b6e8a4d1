// A bare server that parses a request and gives back the same bytes, and play of a contract that has them.
import { createServer } from "node:net";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { WebSocketServer } from "ws";

const { kind, path, suite } = JSON.parse(process.argv[2]);
const ready = () => console.log(JSON.stringify({ path }));

if (kind === "bare net") {
  const [before, after] = JSON.parse(process.argv[2]).reply;
  createServer((socket) => {
    let rest = "";
    socket.setNoDelay(true);
    socket.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop();
      for (const line of lines) socket.write(`${before}${JSON.parse(line).id}${after}\n`);
    });
    socket.on("error", () => {});
  }).listen(path, ready);
} else if (kind === "bare ws") {
  const [before, after] = JSON.parse(process.argv[2]).reply;
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" }, () =>
    console.log(JSON.stringify({ url: `ws://127.0.0.1:${server.address().port}` })),
  );
  server.on("connection", (socket) => {
    socket.on("message", (data) => socket.send(`${before}${JSON.parse(String(data)).id}${after}`));
  });
} else {
  process.argv.splice(2);
  const address = kind === "play net" ? `unix:${path}` : "ws://127.0.0.1:0";
  const cli = resolve(process.env.STUNTDOUBLE_CLI ?? "dist/cli/main.js");
  process.argv.push("play", suite, "--listen", address);
  process.stdout.write = ((write) => (text) => {
    const found = /Listening on (\S+)/.exec(text);
    return write.call(process.stdout, found ? `${JSON.stringify({ path, url: found[1] })}\n` : text);
  })(process.stdout.write);
  await import(pathToFileURL(cli).href);
}
