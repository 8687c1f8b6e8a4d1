import { describe, expect, it } from "vitest";
import { ExpectationError, StuntDouble } from "../index.ts";

async function ask(double: StuntDouble, content: string, more: object = {}, headers: Record<string, string> = {}) {
  const body = JSON.stringify({ model: "gpt-4o-2024-08-06", messages: [{ role: "user", content }], ...more });
  await (await double.fetch("http://x/v1/chat/completions", { method: "POST", headers, body })).text();
}

const tools = [{ type: "function", function: { name: "get_weather", parameters: {} } }];

describe("expectCalls", () => {
  it("finds calls by every field of a match, and by what the journal knows", async () => {
    const double = new StuntDouble().on({ userMessage: "hello" }, { content: "Hi" }, { id: "greeting" });
    await ask(
      double,
      "hello there",
      { tools, response_format: { type: "json_object" } },
      { "x-aimock-context": "shop" },
    );
    for (const pattern of [
      { userMessage: "hello" },
      { userMessage: /^hello/ },
      { model: "gpt-4o" },
      { toolName: "get_weather" },
      { responseFormat: "json_object" },
      { context: "shop" },
      { endpoint: "chat" as const },
      { turnIndex: 0, hasToolResult: false },
      { path: "/v1/chat/completions" },
      { path: "/v1/*" },
      { status: 200, source: "fixture" as const, fixture: "greeting" },
      { predicate: (request: { messages: unknown[] }) => request.messages.length === 1 },
      {},
    ]) {
      expect(double.expectCalls(pattern, { times: 1 })).toHaveLength(1);
    }
  });

  it("says what was asked in their place, field by field", async () => {
    const double = new StuntDouble().onMessage("hello", { content: "Hi" });
    await ask(double, "hello there", { tools });
    const message = (pattern: object, times?: number): string => {
      try {
        double.expectCalls(pattern, times === undefined ? {} : { times });
      } catch (error) {
        expect(error).toBeInstanceOf(ExpectationError);
        return (error as Error).message;
      }
      return "as expected";
    };
    expect(message({ userMessage: "bye" })).toBe(
      'Expected at least one call with {"userMessage":"bye"}, but there were 0 among 1:\n' +
        '  POST /v1/chat/completions 200: userMessage is "hello there"',
    );
    expect(message({ toolName: "search" })).toContain('toolName is ["get_weather"]');
    expect(message({ turnIndex: 1 })).toContain("turnIndex is 0");
    expect(message({ status: 404 })).toContain("status is 200");
    expect(message({ path: "/v1/models" })).toContain("path");
    expect(message({ toolCallId: "call_1" })).toContain("toolCallId is not there");
    expect(message({ predicate: () => false })).toContain("the predicate does not hold");
    expect(message({ userMessage: /hello/i }, 2)).toContain('Expected 2 calls with {"userMessage":"/hello/i"}');
    expect(message({ userMessage: "hello" }, 0)).toContain("Expected 0 calls");
    expect(message({ userMessage: "bye" }, 0)).toBe("as expected");
    double.clearCalls();
    expect(message({ userMessage: "bye" })).toContain("but there was no call.");
  });

  it("wants the calls of a list in their order, others between them allowed", async () => {
    const double = new StuntDouble().onMessage(/./, { content: "yes" });
    for (const content of ["plan", "chat", "search", "answer"]) await ask(double, content);
    const steps = ["plan", "search", "answer"].map((userMessage) => ({ userMessage }));
    expect(double.expectCalls(steps, { inOrder: true })).toHaveLength(3);
    const backwards = [...steps].reverse();
    expect(double.expectCalls(backwards)).toHaveLength(3);
    expect(() => double.expectCalls(backwards, { inOrder: true })).toThrow("did not come after the ones before it");
    // One call does not stand for two.
    expect(() => double.expectCalls([{ userMessage: "plan" }, { userMessage: "plan" }], { inOrder: true })).toThrow(
      ExpectationError,
    );
  });

  it("counts the calls of one test id, and tells of what the journal has forgotten", async () => {
    const double = new StuntDouble({ journalMaxEntries: 2 }).onMessage(/./, { content: "yes" });
    for (const id of ["a", "b", "b"]) await ask(double, "hello", {}, { "x-test-id": id });
    double.expectCalls({ userMessage: "hello" }, { times: 2, testId: "b" });
    expect(() => double.expectCalls({ userMessage: "hello" }, { testId: "a" })).toThrow(
      "The journal has forgotten 1 call; see journalMaxEntries.",
    );
  });
});

describe("assertNoMisses and unusedFixtures", () => {
  it("list what nobody answered, also when the journal has forgotten it", async () => {
    const double = new StuntDouble({ journalMaxEntries: 1 }).onMessage("hello", { content: "Hi" });
    await ask(double, "what?");
    for (let call = 0; call < 3; call++) await ask(double, "hello");
    expect(() => double.assertNoMisses()).toThrow(/^1 call had no tape to answer:\n {2}POST \/v1\/chat\/completions: /);
    expect(double.misses()).toMatchObject([{ method: "POST", path: "/v1/chat/completions", testId: "__default__" }]);
    expect(double.summary).toEqual({ served: 3, missed: 1 });
    double.clearCalls();
    double.assertNoMisses();
    expect(double.summary).toEqual({ served: 0, missed: 0 });
  });

  it("list the fixtures that nobody asked for, those of a test id too", async () => {
    const double = new StuntDouble().onMessage("hello", { content: "Hi" }).onMessage("bye", { content: "Bye" });
    const own = { match: { userMessage: "mine" }, response: { content: "yours" } };
    double.addFixtures([own], { testId: "a" });
    await ask(double, "hello");
    expect(double.unusedFixtures().map(({ match }) => match.userMessage)).toEqual(["bye", "mine"]);
    expect(double.unusedFixtures({ testId: "a" })).toEqual([own]);
    await ask(double, "mine", {}, { "x-test-id": "a" });
    expect(double.unusedFixtures({ testId: "a" })).toEqual([]);
  });
});
