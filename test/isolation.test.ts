import { Agent, request } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StuntDouble } from "../src/index.ts";

let double: StuntDouble;
beforeEach(async () => {
  double = await StuntDouble.start();
});
afterEach(() => double.stop());

interface Answered {
  status: number;
  content: string;
}

/** A client with one connection of its own. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #headers: Record<string, string>;

  constructor(headers: Record<string, string> = {}) {
    this.#headers = headers;
  }

  async ask(content: string): Promise<Answered> {
    const { status, text } = await this.send("POST", "/v1/chat/completions", {
      model: "gpt-4o",
      messages: [{ role: "user", content }],
    });
    const { choices, error } = JSON.parse(text);
    return { status, content: choices?.[0].message.content ?? error.message };
  }

  send(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const call = request(double.url + path, { agent: this.#agent, method, headers: this.#headers }, (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (chunk) => {
          text += chunk;
        });
        answer.on("end", () => resolve({ status: answer.statusCode!, text }));
      });
      call.on("error", reject);
      call.end(body && JSON.stringify(body));
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

const sequence = (length: number, content = "next") =>
  Array.from({ length }, (_, sequenceIndex) => ({
    match: { userMessage: content, sequenceIndex },
    response: { content: String(sequenceIndex) },
  }));

describe("many callers at once", () => {
  it("get each index of a sequence exactly once", async () => {
    double.addFixtures(sequence(1000));
    const clients = Array.from({ length: 64 }, () => new Client());
    const answers: Answered[] = [];
    let left = 1000;
    await Promise.all(
      clients.map(async (client) => {
        while (left-- > 0) answers.push(await client.ask("next"));
        client.close();
      }),
    );
    expect(answers.map(({ content }) => Number(content)).sort((a, b) => a - b)).toEqual(Array.from(Array(1000).keys()));
    expect(double.unusedFixtures()).toEqual([]);
    expect(double.summary).toEqual({ served: 1000, missed: 0 });
  });

  it("never see each other, when each has a test id", async () => {
    const ids = Array.from({ length: 8 }, (_, index) => `worker-${index}`);
    double.addFixtures(sequence(50));
    const seen = await Promise.all(
      ids.map(async (testId, index) => {
        const client = new Client(index % 2 === 0 ? { "X-Test-Id": testId } : { "x-test-id": testId });
        const own = { match: { userMessage: "who" }, response: { content: testId } };
        const scoped = `?testId=${testId}`;
        await client.send("POST", `/__stuntdouble/fixtures${scoped}`, { fixtures: [own] });
        await client.send("POST", "/__stuntdouble/chaos", index % 4 === 3 ? { dropRate: 1 } : {});
        const numbers: string[] = [];
        for (let call = 0; call < 50; call++) {
          if (call === 25)
            await client.send("POST", "/__stuntdouble/error", { status: 418, body: { message: testId } });
          numbers.push((await client.ask(call % 10 === 0 ? "who" : "next")).content);
        }
        const journal = JSON.parse((await client.send("GET", "/__stuntdouble/journal")).text) as { testId: string }[];
        client.close();
        return { testId, numbers, journal: journal.map((entry) => entry.testId) };
      }),
    );
    for (const [index, { testId, numbers, journal }] of seen.entries()) {
      expect(journal).toEqual(Array.from(Array(50), () => testId));
      let next = 0;
      // The error at 25 comes in the place of an answer, and takes none from the sequence.
      const calm = Array.from(Array(50), (_, call) =>
        call === 25 ? testId : call % 10 === 0 ? testId : String(next++),
      );
      const dropped = calm.map(() => "Chaos: request dropped");
      expect(numbers).toEqual(index % 4 === 3 ? dropped : calm);
    }
  });

  it("clean up after themselves alone", async () => {
    double.addFixtures(sequence(3));
    const [one, two] = [new Client({ "x-test-id": "one" }), new Client({ "x-test-id": "two" })];
    for (const client of [one, two]) expect((await client.ask("next")).content).toBe("0");
    await one.send("POST", "/__stuntdouble/reset");
    expect((await one.ask("next")).content).toBe("0");
    expect((await two.ask("next")).content).toBe("1");
    expect(double.calls({ testId: "one" })).toHaveLength(1);
    expect(double.calls({ testId: "two" })).toHaveLength(2);
    one.close();
    two.close();
  });

  it("are told of their own misses only", async () => {
    const [one, two] = [new Client({ "x-test-id": "one" }), new Client({ "x-test-id": "two" })];
    double.onMessage("hello", { content: "Hi" });
    await one.ask("nobody knows");
    await two.ask("hello");
    expect(() => double.assertNoMisses({ testId: "one" })).toThrow("1 call had no tape to answer");
    double.assertNoMisses({ testId: "two" });
    one.close();
    two.close();
  });
});
