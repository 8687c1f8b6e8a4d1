import fc from "fast-check";
import { expect, test } from "vitest";
import { loadContracts } from "../../src/conformance/contracts/load.ts";
import { clientOf, mockOf, pair, suiteOf } from "./support.ts";

// What a client that is developed against play expects: what it gave comes back.

const downloads = await loadContracts("test/contracts/download-manager");
const setup = (method: string, params: object, pointer = "/result/id") => [
  { request: { method, params }, bind: { $noteId: pointer } },
];

test("what was given to add comes back from it, from get, from list and in the events", () => {
  const client = clientOf(mockOf(downloads));
  const given = { url: "https://example.net/mine.iso", startMode: "later", category: "Games" };
  const added = client.ask("download.add", given).result as { id: string };
  expect(added).toMatchObject({ url: given.url, category: "Games", state: "waiting" });
  expect(client.received[1]).toMatchObject({ method: "download.added", params: { task: added } });
  expect(client.ask("download.get", { id: added.id }).result).toEqual(added);
  const other = client.ask("download.add", { url: "https://example.net/other.iso" }).result;
  expect(other).toMatchObject({ url: "https://example.net/other.iso", category: "Programs" });
  expect(client.ask("download.list", {}).result).toEqual({ tasks: [added, other] });
});

test("whatever is given comes back", () => {
  const client = clientOf(mockOf(downloads));
  fc.assert(
    fc.property(fc.webUrl(), fc.string(), (url, category) => {
      const added = client.ask("download.add", { url, category }).result as { id: string };
      expect(added).toMatchObject({ url, category });
      expect(client.ask("download.get", { id: added.id }).result).toEqual(added);
    }),
  );
});

test("what a method does to a thing stays said of it", () => {
  const client = clientOf(mockOf(downloads));
  const [one, two] = [0, 1].map(
    (n) => (client.ask("download.add", { url: `https://example.net/${n}` }).result as { id: string }).id,
  );
  const states = () => [one, two].map((id) => client.ask("download.get", { id }).result?.["state"]);
  client.ask("download.pause", { id: one });
  expect(states()).toEqual(["paused", "waiting"]);
  expect(client.ask("download.resume", { id: one }).result).toEqual({ id: one, state: "waiting" });
  expect(states()).toEqual(["waiting", "waiting"]);
});

const note = { id: "$uuid", text: "buy milk", done: false, pinned: null, dueAt: "2026-01-31T12:00:00Z" };
const listed = { ...note, id: "$noteId", dueAt: "$isoDate" };
const notes = {
  contract: { setup: setup("note.add", { text: "x" }) },
  "note.add": pair(
    "note.add",
    { text: "buy milk", done: false, dueAt: "2026-01-31T12:00:00Z", title: " Trimmed " },
    { result: { ...note, title: "Trimmed" } },
  ),
  "note.get": pair("note.get", { id: "$noteId" }, { result: { ...listed, title: "Trimmed" } }),
  "note.text": pair("note.text", { id: "$noteId" }, { result: { text: "buy milk", author: { text: "a bot" } } }),
  "note.list": pair("note.list", undefined, { result: [listed, { ...listed, text: "another", done: true }] }),
  "note.update": pair(
    "note.update",
    { id: "$noteId", text: "buy tea" },
    { result: { ...listed, text: "buy tea", done: false } },
  ),
  "note.complete": pair("note.complete", { id: "$noteId" }, { result: { ...listed, done: true } }),
  "note.reopen": pair("note.reopen", { id: "$noteId" }, { result: { ...listed, done: false } }),
  "errors/note.get": pair("note.get", { id: "gone" }, { error: { code: -1, message: "none", data: { id: "gone" } } }),
};

test("a value that the golden pair shows changed is the service's own", async () => {
  const client = clientOf(mockOf(await suiteOf(notes)));
  const added = client.ask("note.add", { text: "a", title: " mine " }).result;
  expect(added).toMatchObject({ text: "a", title: "Trimmed" });
  expect(client.ask("note.get", { id: added?.["id"] }).result).toMatchObject({ text: "a", title: "Trimmed" });
});

test("what is given later replaces what was given first, and an effect replaces both", async () => {
  const client = clientOf(mockOf(await suiteOf(notes)));
  const dueAt = "2030-01-01T00:00:00Z";
  const { id } = client.ask("note.add", { text: "a", done: false, dueAt }).result as { id: string };
  const other = client.ask("note.add", { text: "b", dueAt }).result as { id: string };
  const get = () => client.ask("note.get", { id }).result;
  expect(get()).toMatchObject({ id, text: "a", done: false, dueAt });
  expect(client.ask("note.update", { id, text: "c" }).result).toMatchObject({ text: "c", dueAt });
  expect(client.ask("note.complete", { id }).result).toMatchObject({ text: "c", done: true });
  expect(get()).toMatchObject({ text: "c", done: true });
  expect(client.ask("note.list").result).toMatchObject([
    { id, text: "c", done: true },
    { id: other.id, text: "b", done: true },
  ]);
  expect(client.ask("note.reopen", { id }).result).toMatchObject({ text: "c", done: false });
  expect(get()).toMatchObject({ text: "c", done: false });
});

test("a response without an id is about the one that was asked for, and members of other objects are golden", async () => {
  const client = clientOf(mockOf(await suiteOf(notes)));
  const { id } = client.ask("note.add", { text: "a" }).result as { id: string };
  expect(client.ask("note.text", { id }).result).toEqual({ text: "a", author: { text: "a bot" } });
});

test("what has another shape than the golden's does not come back, and null does", async () => {
  const client = clientOf(mockOf(await suiteOf(notes)));
  expect(client.ask("note.add", { text: 7, done: null, dueAt: {} }).result).toMatchObject({
    text: "buy milk",
    done: null,
    dueAt: "2026-01-31T12:00:00Z",
  });
});

test("errors say what they were asked", async () => {
  const client = clientOf(mockOf(await suiteOf(notes)));
  expect(client.ask("note.get", { id: "nowhere" }).error).toEqual({
    code: -1,
    message: "none",
    data: { id: "nowhere" },
  });
});

test("an id that the client chooses is the one that lives", async () => {
  const chosen = {
    contract: { setup: setup("note.put", { key: "k", text: "x" }, "/result/key") },
    "note.put": pair("note.put", { key: "first", text: "a" }, { result: { key: "first" } }),
    "note.get": pair("note.get", { key: "$noteId" }, { result: { key: "$noteId", text: "a" } }),
  };
  const client = clientOf(mockOf(await suiteOf(chosen)));
  expect(client.ask("note.put", { key: "mine", text: "b" }).result).toEqual({ key: "mine" });
  expect(client.ask("note.get", { key: "mine" }).result).toEqual({ key: "mine", text: "b" });
  expect(client.ask("note.get", { key: "first" }).error?.code).toBe(-32602);
});

test("params by position, params in an object and large numbers come back as they were written", async () => {
  const schema = {
    openrpc: "1.3.2",
    methods: [
      {
        name: "task.add",
        params: [
          { name: "task", required: true, schema: { type: "object" } },
          { name: "size", schema: { type: "integer" } },
        ],
        result: { name: "id", schema: {} },
      },
    ],
  };
  const tasks = {
    contract: { schema, setup: setup("task.add", [{ title: "x" }] as object) },
    "task.add": pair("task.add", { task: { title: "a", tags: ["b"] }, size: 1 }, { result: { id: "task-1" } }),
    "task.get": pair("task.get", { id: "$noteId" }, { result: { id: "$noteId", title: "a", tags: ["b"], size: 5 } }),
  };
  const client = clientOf(mockOf(await suiteOf(tasks)));
  client.send(
    '{"jsonrpc":"2.0","id":1,"method":"task.add","params":[{"title":"mine","tags":["x","y"]},9007199254740993]}',
  );
  const { id } = (client.received[0] as { result: { id: string } }).result;
  client.ask("task.get", { id });
  expect(client.texts.at(-1)).toBe(
    `{"jsonrpc":"2.0","id":1,"result":{"id":"${id}","title":"mine","tags":["x","y"],"size":9007199254740993}}`,
  );
});

test("an id of another thing is the one that was given", async () => {
  const foldered = {
    contract: {
      setup: [
        { request: { method: "folder.add" }, bind: { $folderId: "/result/id" } },
        ...setup("note.add", { folderId: "$folderId", text: "x" }),
      ],
      placeholders: { $noteId: { changedBy: ["note.into"] } },
    },
    "folder.add": pair("folder.add", undefined, { result: { id: "$uuid" } }),
    "note.add": pair("note.add", { folderId: "$folderId", text: "a" }, { result: { id: "$uuid" } }),
    "note.into": pair("note.into", { id: "$noteId", folderId: "$folderId" }, { result: true }),
    "note.get": pair("note.get", { id: "$noteId" }, { result: { id: "$noteId", folderId: "$folderId", text: "a" } }),
  };
  const client = clientOf(mockOf(await suiteOf(foldered)));
  const [first, second] = [0, 1].map(() => (client.ask("folder.add").result as { id: string }).id);
  const { id } = client.ask("note.add", { folderId: first, text: "mine" }).result as { id: string };
  expect(client.ask("note.get", { id }).result).toEqual({ id, folderId: first, text: "mine" });
  expect(client.ask("note.into", { id, folderId: second }).result).toBe(true);
  expect(client.ask("note.get", { id }).result).toEqual({ id, folderId: second, text: "mine" });
});

test("an event without an id says what its cause was given", async () => {
  const settings = {
    contract: { events: { changed: { after: "settings.set" } } },
    "settings.set": pair("settings.set", { most: 5 }, { result: { most: 5 } }),
    "events/changed": { notification: { jsonrpc: "2.0", method: "changed", params: { most: 5, by: "a client" } } },
  };
  const client = clientOf(mockOf(await suiteOf(settings)));
  client.ask("settings.set", { most: 7 });
  expect(client.received).toEqual([
    { jsonrpc: "2.0", id: 1, result: { most: 7 } },
    { jsonrpc: "2.0", method: "changed", params: { most: 7, by: "a client" } },
  ]);
});
