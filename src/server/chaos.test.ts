import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Chaos, StuntDouble, type StuntDoubleOptions } from "../index.ts";
import { ManualClock } from "../state/manual-clock.ts";

const hello = { model: "gpt-4o", messages: [{ role: "user", content: "hello" }] };
const NAMES = {
  dropRate: "drop",
  malformedRate: "malformed",
  rateLimitRate: "rate-limit",
  disconnectRate: "disconnect",
};
const ACTIONS = {
  dropRate: "drop",
  malformedRate: "malformed",
  rateLimitRate: "rateLimit",
  disconnectRate: "disconnect",
};
type Rate = keyof typeof NAMES;
const RATES = Object.keys(NAMES) as Rate[];

interface Level {
  server?: Chaos;
  testId?: Chaos;
  fixture?: Chaos;
  headers?: Record<string, string>;
}

async function ask(double: StuntDouble, headers: Record<string, string> = {}, body: object = hello): Promise<string> {
  const request = { method: "POST", headers: { "x-test-id": "t", ...headers }, body: JSON.stringify(body) };
  await double
    .fetch("http://x/v1/chat/completions", request)
    .then((answer) => answer.text())
    .catch(() => undefined);
  return double.lastCall()!.response.chaosAction ?? "none";
}

function doubleWith({ server, testId, fixture }: Level, options: StuntDoubleOptions = {}): StuntDouble {
  const double = new StuntDouble({ ...options, ...(server && { chaos: server }) });
  if (testId !== undefined) double.setChaos(testId, { testId: "t" });
  return double.onMessage("hello", { content: "Hi" }, { ...(fixture && { chaos: fixture }) });
}

describe("what chance does", () => {
  it.each(RATES)("is %s at each level, and the journal says it", async (rate) => {
    const levels: Level[] = [
      { server: { [rate]: 1 } },
      { testId: { [rate]: 1 } },
      { fixture: { [rate]: 1 } },
      { headers: { [`x-stuntdouble-chaos-${NAMES[rate]}`]: "1" } },
      { headers: { [`x-aimock-chaos-${NAMES[rate].replace("-", "")}`]: "1" } },
    ];
    for (const level of levels) expect(await ask(doubleWith(level), level.headers)).toBe(ACTIONS[rate]);
  });

  it("is decided by the header before the fixture before the server, each field by itself", async () => {
    const level = fc.record(Object.fromEntries(RATES.map((rate) => [rate, fc.constantFrom(0, 1)])), {
      requiredKeys: [],
    });
    await fc.assert(
      fc.asyncProperty(level, fc.option(level), level, level, async (server, testId, fixture, header) => {
        const headers = Object.fromEntries(
          Object.entries(header).map(([rate, value]) => [`x-stuntdouble-chaos-${NAMES[rate as Rate]}`, String(value)]),
        );
        const double = doubleWith({ server, ...(testId && { testId }), fixture });
        const chaos: Chaos = { ...(testId ?? server), ...fixture, ...header };
        const first = RATES.find((rate) => chaos[rate] === 1);
        expect(await ask(double, headers)).toBe(first === undefined ? "none" : ACTIONS[first]);
      }),
      { numRuns: 60 },
    );
  });

  it("befalls the calls of its test id only", async () => {
    const double = new StuntDouble().onMessage("hello", { content: "Hi" }).setChaos({ dropRate: 1 }, { testId: "a" });
    expect(await ask(double, { "x-test-id": "a" })).toBe("drop");
    expect(await ask(double, { "x-test-id": "b" })).toBe("none");
    double.clearChaos();
    expect(await ask(double, { "x-test-id": "a" })).toBe("drop");
    double.clearChaos({ testId: "a" });
    expect(await ask(double, { "x-test-id": "a" })).toBe("none");
  });

  it("is the same in two runs with one seed, and another with another", async () => {
    const run = async (seed: number): Promise<string> => {
      const double = doubleWith({ server: { dropRate: 0.3, malformedRate: 0.3, disconnectRate: 0.3 } }, { seed });
      const actions: string[] = [];
      for (let call = 0; call < 40; call++) actions.push(await ask(double));
      return actions.join(" ");
    };
    const first = await run(7);
    expect(await run(7)).toBe(first);
    expect(await run(8)).not.toBe(first);
    expect(new Set(first.split(" "))).toEqual(new Set(["drop", "malformed", "disconnect", "none"]));
  });

  it("does not depend, with a seed, on what other test ids do meanwhile", async () => {
    const run = async (others: number): Promise<string[]> => {
      const double = doubleWith({ server: { dropRate: 0.5 } }, { seed: 1 });
      const actions: string[] = [];
      for (let call = 0; call < 20; call++) {
        for (let other = 0; other < others; other++) await ask(double, { "x-test-id": "other" });
        actions.push(await ask(double));
      }
      return actions;
    };
    expect(await run(2)).toEqual(await run(0));
  });

  it("happens as often as its rate says", async () => {
    const double = doubleWith({ server: { dropRate: 0.25 } }, { seed: "rate" });
    let drops = 0;
    for (let call = 0; call < 1000; call++) if ((await ask(double)) === "drop") drops++;
    expect(drops).toBeGreaterThan(200);
    expect(drops).toBeLessThan(300);
  });

  it("has used up a fixture's turn in its sequence", async () => {
    const double = new StuntDouble();
    double.on({ userMessage: "hello", sequenceIndex: 0 }, { content: "first" }, { chaos: { dropRate: 1 } });
    double.on({ userMessage: "hello", sequenceIndex: 1 }, { content: "second" });
    expect(await ask(double)).toBe("drop");
    expect(await ask(double)).toBe("none");
    expect(double.lastCall()!.response.fixture).toBe("fixture 2");
  });

  it("befalls a call that nothing answers too, which then is no miss", async () => {
    const double = new StuntDouble({ chaos: { dropRate: 1 } });
    expect(await ask(double)).toBe("drop");
    expect(double.lastCall()!.response).toMatchObject({ status: 500, source: "chaos", fixture: null });
    double.assertNoMisses();
  });

  it("waits before the answer, and before the miss", async () => {
    const clock = new ManualClock();
    const double = new StuntDouble({ clock, chaos: { latencyMs: 250 } }).onMessage("hello", { content: "Hi" });
    for (const content of ["hello", "nobody knows"]) {
      let status: number | undefined;
      const done = double
        .fetch("http://x/v1/chat/completions", {
          method: "POST",
          body: JSON.stringify({ ...hello, messages: [{ role: "user", content }] }),
        })
        .then((answer) => {
          status = answer.status;
        });
      while (clock.pending.length === 0) await new Promise(setImmediate);
      clock.advance(249);
      await new Promise(setImmediate);
      expect(status).toBeUndefined();
      clock.advance(1);
      await done;
      expect(status).toBe(content === "hello" ? 200 : 404);
      expect(double.lastCall()!.response.chaosAction).toBe("latency");
    }
  });

  it("refuses what is no rate, wherever it was said", async () => {
    const double = new StuntDouble();
    for (const wrong of [
      { dropRate: 2 },
      { dropRate: -0.1 },
      { dropRate: Number.NaN },
      { rate: 1 },
      { latencyMs: "5" },
    ]) {
      expect(() => double.setChaos(wrong as Chaos)).toThrow(RangeError);
      expect(() => new StuntDouble({ chaos: wrong as Chaos })).toThrow(RangeError);
    }
    double.onMessage("hello", { content: "Hi" });
    for (const wrong of ["2", "-1", "often", "", "NaN"]) {
      await ask(double, { "x-stuntdouble-chaos-drop": wrong });
      expect(double.lastCall()!.response).toMatchObject({ status: 400, source: "refused" });
      expect(double.lastCall()!.response.detail).toContain("x-stuntdouble-chaos-drop has to be a number from 0 to 1");
    }
  });
});
