import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { lintFixtures } from "../../src/fixtures/lint.ts";
import {
  type Fixture,
  loadFixtures,
  type RecordMode,
  type StuntDouble,
  type StuntDoubleOptions,
} from "../../src/index.ts";
import { chat, completion, folder, onCleanup, post, provider, replaying } from "./support.ts";

const PATH = "/v1/chat/completions";

let url: string;
let fixturePath: string;
beforeEach(async () => {
  let answers = 0;
  // A provider that never says the same again.
  url = await provider((_, response) =>
    response.setHeader("content-type", "application/json").end(completion(`answer ${answers++}`)),
  );
  fixturePath = folder();
});

/** A process that begins with what has been recorded so far. */
function recorder(options: StuntDoubleOptions = {}): StuntDouble {
  const double = replaying(fixturePath, { record: { providers: { openai: url }, fixturePath }, ...options });
  onCleanup(() => double.stop());
  return double;
}

/** The number of the provider's answer; undefined for a miss. */
async function ask(double: StuntDouble, question: string, testId?: string): Promise<number | undefined> {
  const headers = { "content-type": "application/json", ...(testId !== undefined && { "x-test-id": testId }) };
  const reply = await post(`http://d${PATH}`, chat(question), { headers }, double.fetch);
  const body = await reply.text();
  if (reply.status !== 200) return undefined;
  return Number(/answer (\d+)/.exec(body)![1]);
}

async function asked(double: StuntDouble, times: number, testId?: string): Promise<(number | undefined)[]> {
  const answers: (number | undefined)[] = [];
  for (let time = 0; time < times; time++) answers.push(await ask(double, "same", testId));
  return answers;
}

/** So many that they are found by an index. */
const OTHERS: Fixture[] = Array.from({ length: 40 }, (_, index) => ({
  match: { fingerprint: `other ${index}`, sequenceIndex: 0 },
  response: { content: "answer to another" },
}));

/** All that a process which has just begun answers to one request. */
async function replay(question: string, testId?: string): Promise<number[]> {
  const double = replaying(fixturePath, { repeat: "miss" }).addFixtures(OTHERS);
  const answers: number[] = [];
  for (;;) {
    const answer = await ask(double, question, testId);
    if (answer === undefined) return answers;
    answers.push(answer);
  }
}

describe("a recorded sequence", () => {
  it("has no hole where calls were replayed in between", async () => {
    const double = recorder();
    expect(await asked(double, 2)).toEqual([0, 1]);
    await double.recorded();
    double.disableRecording();
    expect(await asked(double, 3)).toEqual([1, 1, 1]);
    double.enableRecording();
    expect(await asked(double, 2)).toEqual([2, 3]);
    await double.stop();
    expect(loadFixtures(fixturePath).map(({ match }) => match.sequenceIndex)).toEqual([0, 1, 2, 3]);
    expect(await asked(replaying(fixturePath), 5)).toEqual([0, 1, 2, 3, 3]);
    expect(await asked(replaying(fixturePath, { repeat: "cycle" }), 5)).toEqual([0, 1, 2, 3, 0]);
  });

  it("goes on over a hole of a folder that has one", async () => {
    const double = recorder();
    await asked(double, 3, "A");
    await double.stop();
    const file = join(fixturePath, "a", "openai.json");
    writeFileSync(file, readFileSync(file, "utf8").replace('"sequenceIndex": 2', '"sequenceIndex": 5'));
    expect(await asked(replaying(fixturePath), 4, "A")).toEqual([0, 1, 2, 2]);
    expect(await asked(replaying(fixturePath, { repeat: "cycle" }), 4, "A")).toEqual([0, 1, 2, 0]);
    const again = recorder();
    expect(await asked(again, 4, "A")).toEqual([0, 1, 2, 3]);
    await again.stop();
    expect(loadFixtures(fixturePath).map(({ match }) => match.sequenceIndex)).toEqual([0, 1, 5, 6]);
  });

  it("is each test id's own, and that of who recorded first where a test id has none", async () => {
    const [one, other] = [recorder(), recorder()];
    for (let time = 0; time < 2; time++) {
      expect(await ask(one, "same", "B")).toBe(2 * time);
      expect(await ask(other, "same", "A")).toBe(2 * time + 1);
    }
    await Promise.all([one.stop(), other.stop()]);
    expect(await replay("same", "A")).toEqual([1, 3]);
    expect(await replay("same", "B")).toEqual([0, 2]);
    expect(await replay("same")).toEqual([0, 2]);
    expect(await replay("same", "another")).toEqual([0, 2]);
  });

  it("keeps all that processes without test ids have recorded at the same time", async () => {
    const [one, other] = [recorder(), recorder()];
    for (let time = 0; time < 2; time++) {
      expect(await ask(one, "same")).toBe(2 * time);
      expect(await ask(other, "same")).toBe(2 * time + 1);
    }
    await Promise.all([one.stop(), other.stop()]);
    expect(loadFixtures(fixturePath).map(({ match }) => match.sequenceIndex)).toEqual([0, 0, 1, 1]);
    expect(await replay("same")).toEqual([0, 1, 2, 3]);
    expect(lintFixtures(loadFixtures(fixturePath))).toEqual([]);
  });

  it("is found by a test id that holds a secret", async () => {
    const double = recorder();
    await asked(double, 1, "first");
    expect(await asked(double, 2, "of ada@example.com")).toEqual([1, 2]);
    await double.stop();
    expect(await replay("same", "of ada@example.com")).toEqual([1, 2]);
  });

  it("goes on behind what others had recorded before, which answers first", async () => {
    const first = recorder();
    await asked(first, 2, "A");
    await first.stop();
    const second = recorder();
    expect(await asked(second, 3, "B")).toEqual([0, 1, 2]);
    expect(await asked(second, 3, "A")).toEqual([0, 1, 3]);
    await second.stop();
    expect(await replay("same", "B")).toEqual([0, 1, 2]);
    expect(await replay("same", "A")).toEqual([0, 1, 3]);
    expect(await replay("same")).toEqual([0, 1, 3]);
  });

  it("counts once what is recorded and read again by the watch", async () => {
    const double = recorder();
    await asked(double, 2, "A");
    await double.recorded();
    double.load(fixturePath);
    expect(await asked(double, 2, "A")).toEqual([2, 3]);
    await double.recorded();
    double.resetCounts();
    expect(await asked(double, 5, "A")).toEqual([0, 1, 2, 3, 4]);
  });
});

const MODES: RecordMode[] = ["record", "record", "proxy-only", "off"];
const PROCESSES = 2;

/** What happens at the same time. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.array(
      fc.record({
        process: fc.nat(PROCESSES - 1),
        testId: fc.constantFrom(undefined, "A", "B", "C"),
        question: fc.constantFrom("x", "y"),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  },
  { weight: 2, arbitrary: fc.record({ process: fc.nat(PROCESSES - 1), mode: fc.constantFrom(...MODES) }) },
  { weight: 1, arbitrary: fc.record({ process: fc.nat(PROCESSES - 1), restart: fc.constant(true) }) },
);

interface Got {
  /** Which start of a process it was of. */
  run: number;
  step: number;
  answer: number;
  own: boolean;
}

it("gives all who recorded their own answers in order, whatever came in between (property)", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 16 }), async (steps) => {
      fixturePath = folder();
      let runs = 0;
      const start = () => ({ double: recorder(), run: runs++, mode: "record" as RecordMode });
      const processes = Array.from({ length: PROCESSES }, start);
      const got = new Map<string, Got[]>();
      const known = new Set<number>();
      const settled = () => Promise.all(processes.map(({ double }) => double.recorded()));
      for (const [index, step] of steps.entries()) {
        if (Array.isArray(step)) {
          await Promise.all(
            step.map(async ({ process, testId, question }) => {
              const { double, run, mode } = processes[process]!;
              const answer = await ask(double, question, testId);
              if (answer === undefined) return;
              const key = JSON.stringify([question, testId]);
              const own = mode === "record" && !known.has(answer);
              if (own) known.add(answer);
              got.set(key, [...(got.get(key) ?? []), { run, step: index, answer, own }]);
            }),
          );
          continue;
        }
        const process = processes[step.process]!;
        if ("mode" in step) {
          process.double.setRecordMode(step.mode);
          process.mode = step.mode;
          continue;
        }
        await settled();
        await process.double.stop();
        processes[step.process] = start();
      }
      await Promise.all(processes.map(({ double }) => double.stop()));
      for (const [key, all] of got) {
        const [question, testId] = JSON.parse(key) as [string, string | null];
        const replayed = await replay(question, testId ?? undefined);
        const own = all.filter((one) => one.own).map(({ answer }) => answer);
        // Each once, behind what answered before the first of them, if anything did.
        expect(replayed.slice(replayed.length - own.length).sort()).toEqual(own.sort());
        if (all[0]!.own) expect(replayed).toHaveLength(own.length);
        for (const [index, one] of all.entries()) {
          const place = replayed.indexOf(one.answer);
          const before = all.slice(0, index).filter(({ run, step }) => run === one.run && step < one.step);
          if (place >= 0) for (const { answer } of before) expect(replayed.indexOf(answer)).toBeLessThanOrEqual(place);
        }
      }
    }),
    { numRuns: 40 },
  );
}, 120_000);
