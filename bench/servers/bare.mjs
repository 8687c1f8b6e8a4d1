// The limit: node:http that reads and parses the request and sends the bytes that the product would send.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const { replyFile, contentType = "application/json" } = JSON.parse(process.argv[2]);
const reply = readFileSync(replyFile);
const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = JSON.parse(Buffer.concat(chunks).toString());
    if (typeof body !== "object") throw new Error("no object");
    response.writeHead(200, {
      "content-type": contentType,
      "content-length": String(reply.length),
      "x-request-id": "req_000000000000000000000000",
      "access-control-allow-origin": "*",
    });
    response.end(reply);
  });
});
process.on("SIGTERM", () => process.exit(0));
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));
