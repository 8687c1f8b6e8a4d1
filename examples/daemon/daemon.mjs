// Keeps a list of notes. JSON-RPC, a message a line, on a Unix socket: node daemon.mjs /tmp/notes.sock
import { randomUUID } from "node:crypto";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

const notes = new Map();
const clients = new Set();

const methods = {
  "note.add": ({ text }) => {
    const note = { id: randomUUID(), text, addedAt: new Date().toISOString() };
    notes.set(note.id, note);
    return { result: note, event: { method: "note.added", params: { id: note.id } } };
  },
  "note.list": () => ({ result: { notes: [...notes.values()] } }),
  "note.get": ({ id }) => (notes.has(id) ? { result: notes.get(id) } : notFound),
  "note.remove": ({ id }) => (notes.delete(id) ? { result: { removed: true } } : notFound),
};
const notFound = { error: { code: -32004, message: "there is no such note" } };

const server = createServer((socket) => {
  clients.add(socket);
  socket.on("close", () => clients.delete(socket));
  socket.on("error", () => {});
  const lines = createInterface({ input: socket });
  // It tells of the socket's errors once more.
  lines.on("error", () => {});
  lines.on("line", (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    const answer = methods[method]?.(params) ?? { error: { code: -32601, message: `there is no ${method}` } };
    const { event, ...reply } = answer;
    socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
    if (event) for (const client of clients) client.write(`${JSON.stringify({ jsonrpc: "2.0", ...event })}\n`);
  });
});
server.listen(process.argv[2], () => console.log(`Listening on unix:${process.argv[2]}`));
