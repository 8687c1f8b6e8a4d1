import { describe, expect, it } from "vitest";
import { openaiChat } from "../dialects/openai-chat/index.ts";
import { RawRequest } from "../dialects/raw-request.ts";
import { Journal, type JournalRecord } from "./journal.ts";

function record(
  number: number,
  more: Partial<JournalRecord> = {},
  headers: Record<string, string> = {},
  url = "/v1/chat/completions",
) {
  const body = JSON.stringify({ model: "m", messages: [{ role: "developer", content: `call ${number}` }] });
  return {
    raw: new RawRequest("POST", url, headers, Buffer.from(body)),
    operation: openaiChat.operations[0],
    testId: "__default__",
    timestamp: number,
    response: { status: 200, source: "fixture" as const, fixture: "f" },
    ...more,
  };
}

describe("Journal", () => {
  it("keeps the last calls, oldest first, and numbers them all", () => {
    const journal = new Journal(3);
    for (let number = 1; number <= 5; number++) journal.write(record(number));
    expect(journal.read().map((entry) => [entry.id, entry.timestamp])).toEqual([
      ["3", 3],
      ["4", 4],
      ["5", 5],
    ]);
    expect(journal.last()?.id).toBe("5");
  });

  it("keeps nothing when it has no length", () => {
    const journal = new Journal(0);
    journal.write(record(1));
    expect(journal.read()).toEqual([]);
    expect(journal.last()).toBeUndefined();
  });

  it("forgets what was before it was cleared", () => {
    const journal = new Journal(3);
    journal.write(record(1));
    journal.clear();
    expect(journal.last()).toBeUndefined();
    journal.write(record(2));
    expect(journal.read().map((entry) => entry.timestamp)).toEqual([2]);
  });

  it("gives the canonical request, and the body as it was where nothing decodes it", () => {
    const journal = new Journal(3);
    journal.write(record(1));
    journal.write(record(1, { operation: undefined }));
    journal.write({
      ...record(1, { operation: undefined }),
      raw: new RawRequest("POST", "/x", {}, Buffer.from("no JSON")),
    });
    const [decoded, plain, text] = journal.read().map((entry) => entry.body);
    expect(decoded).toMatchObject({ messages: [{ role: "system", content: "call 1" }] });
    expect(plain).toMatchObject({ messages: [{ role: "developer" }] });
    expect(text).toBe("no JSON");
  });

  it("keeps no body above 64 KB", () => {
    const journal = new Journal(1);
    journal.write({ ...record(1), raw: new RawRequest("POST", "/x", {}, Buffer.alloc(64 * 1024 + 1, 0x20)) });
    expect(journal.last()!.body).toBeNull();
  });

  it("masks credentials in headers and in the query, and leaves the request itself alone", () => {
    const journal = new Journal(1);
    const headers = {
      authorization: "Bearer secret-1",
      "x-api-key": "secret-2",
      "x-goog-api-key": "secret-3",
      cookie: "secret-4",
      accept: "x",
    };
    const made = record(1, {}, headers, "/v1/chat/completions?alt=sse&key=secret-5&testId=a");
    journal.write(made);
    const entry = journal.last()!;
    expect(JSON.stringify(entry)).not.toContain("secret");
    expect(entry.headers["accept"]).toBe("x");
    expect(entry.path).toBe("/v1/chat/completions?alt=sse&key=[redacted]&testId=a");
    expect(made.raw.headers["authorization"]).toBe("Bearer secret-1");
  });

  it("filters by test id, status and path", () => {
    const journal = new Journal(10);
    journal.write(record(1, { testId: "a" }));
    journal.write(record(2, { response: { status: 404, source: "miss", fixture: null } }));
    journal.write(record(3, {}, {}, "/v1/messages?x=1"));
    const numbers = (filter: object): number[] => journal.read(filter).map((entry) => entry.timestamp);
    expect(numbers({ testId: "a" })).toEqual([1]);
    expect(numbers({ status: 404 })).toEqual([2]);
    expect(numbers({ path: "/v1/messages" })).toEqual([3]);
    expect(numbers({ path: "/v1/chat*" })).toEqual([1, 2]);
  });
});
