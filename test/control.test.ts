import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type JournalEntry, StuntDouble } from "../src/index.ts";
import { controlRoutes } from "../src/server/control.ts";

let double: StuntDouble;
beforeEach(async () => {
  double = await StuntDouble.start({ metrics: true });
});
afterEach(() => double.stop());

const json = "application/json";
async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await fetch(double.url + path, { method, headers, ...(body !== undefined && { body: text }) });
  const sent = await answer.text();
  const isJson = answer.headers.get("content-type") === json;
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(sent) : sent };
}

async function ask(content: string, headers: Record<string, string> = {}, query = "") {
  const body = { model: "gpt-4o", messages: [{ role: "user", content }] };
  return send("POST", `/v1/chat/completions${query}`, body, headers);
}

const hello = { match: { userMessage: "hello" }, response: { content: "Hi!" } };

describe.each(["/__stuntdouble", "/__aimock"])("the control API under %s", (prefix) => {
  it("adds fixtures behind those that are there, and takes them out", async () => {
    double.onMessage("hello", { content: "first" });
    const second = { match: { userMessage: "bye" }, response: { content: "Bye!" } };
    expect((await send("POST", `${prefix}/fixtures`, { fixtures: [hello, second] })).body).toEqual({ added: 2 });
    expect((await ask("hello")).body.choices[0].message.content).toBe("first");
    expect((await ask("bye")).body.choices[0].message.content).toBe("Bye!");
    expect((await send("DELETE", `${prefix}/fixtures`)).body).toEqual({ cleared: true });
    expect((await ask("hello")).status).toBe(404);
    expect(double.fixtures).toEqual([]);
  });

  it("refuses fixtures with every fault, and adds none of them", async () => {
    const wrong = { fixtures: [hello, { match: { usermessage: "x" }, response: { content: "y" } }, { match: {} }] };
    const { status, body } = await send("POST", `${prefix}/fixtures`, wrong);
    expect(status).toBe(400);
    expect(body.error.faults.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      "/fixtures/1/match/usermessage",
      "/fixtures/2",
    ]);
    expect(body.error.message).toContain("userMessage");
    expect(double.fixtures).toEqual([]);
    expect((await send("POST", `${prefix}/fixtures`, "{")).status).toBe(400);
    expect((await send("POST", `${prefix}/fixtures`, {})).status).toBe(400);
  });

  it("says which cassettes there are and which are unused, and begins their sequences anew", async () => {
    expect((await send("GET", `${prefix}/cassettes`)).body).toEqual({
      mode: "off",
      recorded: 0,
      replayed: 0,
      cassettes: [],
    });
    const folder = "examples/cassettes";
    const replaying = await StuntDouble.start({ cassettes: { mode: "replay", folder, scenario: "coin toss" } });
    try {
      const call = (method: string, path: string, body?: unknown) =>
        fetch(replaying.url + path, { method, ...(body !== undefined && { body: JSON.stringify(body) }) });
      const toss = { model: "gpt-5-mini", messages: [{ role: "user", content: "Toss a coin." }] };
      const tossed = async () => (await call("POST", "/v1/chat/completions", toss)).status;
      expect([await tossed(), await tossed()]).toEqual([200, 404]);
      const state = await (await call("GET", `${prefix}/cassettes`)).json();
      expect(state).toMatchObject({ mode: "replay", folder, recorded: 0, replayed: 1 });
      expect(state.cassettes).toHaveLength(5);
      expect(state.cassettes).toContainEqual({ name: "five-takes.json", served: 1 });
      const unused = await (await call("GET", `${prefix}/cassettes?unused=true`)).json();
      expect(unused.cassettes.map(({ name }: { name: string }) => name)).toEqual(
        ["kill-switch", "text-stream", "tool-call", "unary"].map((name) => `${name}.json`),
      );
      await call("POST", `${prefix}/cassettes/reset?scenario=other`);
      expect(await tossed()).toBe(404);
      for (const path of ["cassettes/reset?scenario=coin%20toss", "cassettes/reset", "reset"]) {
        await call("POST", `${prefix}/${path}`);
        expect([await tossed(), await tossed()], path).toEqual([200, 404]);
      }
    } finally {
      await replaying.stop();
    }
  });

  it("reads the journal by test id, path, status and number", async () => {
    double.addFixture(hello);
    await ask("hello", { "X-Test-Id": "a" });
    await ask("what", { "X-Test-Id": "a" });
    await ask("hello", {}, "?testId=b");
    await send("GET", "/v1/models");
    const statuses = async (query: string): Promise<number[]> =>
      (await send("GET", `${prefix}/journal${query}`)).body.map(({ response }: JournalEntry) => response.status);
    expect(await statuses("")).toEqual([200, 404, 200, 200]);
    expect(await statuses("?testId=a")).toEqual([200, 404]);
    expect(await statuses("?status=404")).toEqual([404]);
    expect(await statuses("?path=/v1/models")).toHaveLength(1);
    expect(await statuses("?path=/v1/*&testId=b")).toEqual([200]);
    const limited = await send("GET", `${prefix}/journal?limit=1`);
    expect(limited.body[0].path).toBe("/v1/models");
    expect(limited.headers.get("x-total-count")).toBe("4");
    expect((await send("GET", `${prefix}/journal?status=abc`)).status).toBe(400);
  });

  it("masks credentials in the journal", async () => {
    await ask("hello", { authorization: "Bearer sk-secret", "x-api-key": "sk-secret" }, "?key=sk-secret");
    const { body } = await send("GET", `${prefix}/journal`);
    expect(JSON.stringify(body)).not.toContain("sk-secret");
    expect(body[0].headers.authorization).toBe("[redacted]");
  });

  it("fails one call", async () => {
    double.addFixture(hello);
    const error = { status: 418, body: { message: "No coffee", code: "teapot" } };
    expect((await send("POST", `${prefix}/error`, error)).body).toEqual({ queued: true });
    const failed = await ask("hello");
    expect(failed.status).toBe(418);
    expect(failed.body.error).toMatchObject({ message: "No coffee", code: "teapot" });
    expect((await ask("hello")).status).toBe(200);
    await send("POST", `${prefix}/error`, { status: 500, body: { error: { message: "as it is sent" } } });
    expect((await ask("hello")).body.error.message).toBe("as it is sent");
    for (const wrong of [{}, { status: 200 }, { status: "500" }, { status: 500, body: "x" }, []]) {
      expect((await send("POST", `${prefix}/error`, wrong)).status).toBe(400);
    }
  });

  it("sets, shows and clears chaos, for all and for one test id", async () => {
    double.addFixture(hello);
    expect((await send("POST", `${prefix}/chaos`, { latencyMs: 1 })).body).toEqual({ chaos: { latencyMs: 1 } });
    expect((await send("POST", `${prefix}/chaos?testId=a`, { dropRate: 1 })).body).toEqual({ chaos: { dropRate: 1 } });
    expect((await send("GET", `${prefix}/chaos`)).body).toEqual({ chaos: { latencyMs: 1 } });
    expect((await ask("hello", { "x-test-id": "a" })).body.error.code).toBe("chaos_drop");
    expect((await ask("hello", { "x-test-id": "b" })).status).toBe(200);
    expect((await send("DELETE", `${prefix}/chaos?testId=a`)).body).toEqual({ chaos: { latencyMs: 1 } });
    expect((await send("DELETE", `${prefix}/chaos`)).body).toEqual({ chaos: {} });
    const refused = await send("POST", `${prefix}/chaos`, { dropRate: 5 });
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toBe("dropRate has to be a number from 0 to 1, but it is 5.");
    expect((await send("POST", `${prefix}/chaos`, { nope: 1 })).body.error.message).toContain("no chaos field nope");
  });

  it("resets everything, or what belongs to a test id, or the journal alone", async () => {
    const sequence = [0, 1].map((sequenceIndex) => ({
      match: { userMessage: "count", sequenceIndex },
      response: { content: `number ${sequenceIndex}` },
    }));
    double.addFixtures(sequence);
    double.setChaos({ dropRate: 1 }, { testId: "a" });
    await send("POST", `${prefix}/fixtures?testId=a`, { fixtures: [hello] });
    await ask("count", { "x-test-id": "b" });
    await ask("count", { "x-test-id": "a" });
    expect((await send("POST", `${prefix}/reset`, undefined, { "x-test-id": "a" })).body).toEqual({ reset: true });
    expect(double.calls().map(({ testId }) => testId)).toEqual(["b"]);
    expect((await ask("hello", { "x-test-id": "a" })).status).toBe(404);
    expect((await ask("count", { "x-test-id": "a" })).body.choices[0].message.content).toBe("number 0");
    expect((await ask("count", { "x-test-id": "b" })).body.choices[0].message.content).toBe("number 1");
    expect((await send("POST", `${prefix}/reset/journal`)).body).toEqual({ reset: true });
    expect(double.calls()).toEqual([]);
    expect(double.fixtures).toHaveLength(2);
    const old = await send("POST", `${prefix}/reset/fixtures`);
    expect(old.body).toEqual({ reset: true });
    expect(old.headers.get("deprecation")).toBe("true");
    expect(double.fixtures).toEqual([]);
  });

  it("names what there is for a path or method that is not there", async () => {
    const unknown = await send("GET", `${prefix}/nope`);
    expect(unknown.status).toBe(404);
    expect(unknown.body.error.message).toContain(`${prefix}/journal`);
    const wrong = await send("PUT", `${prefix}/reset`);
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get("allow")).toBe("POST");
  });

  it("keeps its own paths out of the journal", async () => {
    await send("GET", `${prefix}/health`);
    await send("GET", `${prefix}/journal`);
    await send("GET", `${prefix}/nope`);
    expect(double.calls()).toEqual([]);
  });
});

it("has the journal under the older path too", async () => {
  await ask("hello");
  expect((await send("GET", "/v1/_requests")).body).toHaveLength(1);
  expect((await send("DELETE", "/v1/_requests")).status).toBe(204);
  expect((await send("GET", "/v1/_requests")).body).toEqual([]);
});

describe("docs/control-api.openapi.json", () => {
  const document = JSON.parse(readFileSync(new URL("../docs/control-api.openapi.json", import.meta.url), "utf8"));
  const ajv = new Ajv2020({ strict: false, allErrors: true }).addSchema(document, "api");
  const bodies: Record<string, unknown> = {
    addFixtures: { fixtures: [hello] },
    setChaos: { dropRate: 0 },
    setRecordMode: { mode: "off" },
    setGuard: { rules: [{ action: "report" }], breaker: { run: { outputTokens: 1000 } } },
    queueError: { status: 503, body: { message: "later" } },
    explain: { model: "gpt-4o", messages: [{ role: "user", content: "hello" }] },
  };
  interface Documented {
    operationId: string;
    responses: Record<string, { content?: Record<string, { schema: object }> }>;
    requestBody?: { content: Record<string, { schema: object }> };
  }
  const operations = Object.entries(document.paths as Record<string, Record<string, Documented>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
  );

  it("lists every route, and no other", () => {
    const listed = operations
      .filter(({ path }) => path.startsWith("/__stuntdouble/") && !path.endsWith("/health"))
      .map(({ method, path }) => `${method} ${path.slice("/__stuntdouble".length)}`);
    expect(listed.sort()).toEqual(
      controlRoutes()
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    );
  });

  it.each(operations)(
    "$method $path answers as it says",
    async ({ method, path, operationId, responses, requestBody }) => {
      double.addFixture({ ...hello, chaos: { latencyMs: 1 } });
      await ask("hello");
      await ask("what?");
      await ask("hello", { "x-aimock-chaos-drop": "1" });
      const body = bodies[operationId];
      if (requestBody !== undefined) {
        expect(ajv.validate(schemaAt(requestBody.content[json]!.schema), body)).toBe(true);
      }
      const answer = await send(method, path, body);
      const [documented] = Object.keys(responses);
      expect(String(answer.status)).toBe(documented);
      const content = responses[documented!]!.content;
      if (content?.[json] === undefined) return;
      const valid = ajv.validate(schemaAt(content[json].schema), answer.body);
      expect(ajv.errors ?? []).toEqual([]);
      expect(valid).toBe(true);
    },
  );

  it.each(operations.filter(({ requestBody }) => requestBody !== undefined))(
    "$method $path refuses what it says it refuses",
    async ({ method, path }) => {
      const answer = await send(method, path, "[1");
      expect(answer.status).toBe(400);
      expect(ajv.validate({ $ref: "api#/components/schemas/Error" }, answer.body)).toBe(true);
    },
  );

  /** References of the document, as they are from outside. */
  function schemaAt(schema: object): object {
    return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/'));
  }
});
