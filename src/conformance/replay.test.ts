import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { functionChannel } from "../transport/channel.ts";
import { tokenOf } from "./bind.ts";
import { SuiteError } from "./errors.ts";
import { Player } from "./player.ts";
import { redact } from "./redact.ts";
import { replay } from "./replay.ts";
import type { Target } from "./target.ts";
import type { Manifest, Transcript } from "./transcript.ts";

function transcript(
  requests: object[] | string[],
  recorded: object[] | string[],
  manifest: Partial<Manifest> = {},
): Transcript {
  const lines = (values: object[] | string[]) =>
    values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  const full: Manifest = {
    case: "case",
    description: "d",
    flow: "lockstep",
    placeholders: {},
    volatile: [],
    responses: recorded.length,
    order: "recorded",
    serverRequests: false,
    unanswered: [],
    inTurn: [],
    framing: "lines",
    unknownMembers: [],
    ...manifest,
  };
  return { dir: "/nowhere/case", manifest: full, requests: lines(requests), recorded: lines(recorded) };
}

const request = (id: unknown, method = "m", params?: unknown) => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params === undefined ? {} : { params }),
});
const note = (method: string) => ({ jsonrpc: "2.0", method });
const answer = (id: unknown, result: unknown = "ok") => ({ jsonrpc: "2.0", id, result });

/** A target that keeps what it is sent, and answers by the function. */
function scripted(
  log: string[],
  respond: (message: { id?: unknown; method?: string }, send: (frame: object) => void) => void,
  ended: () => void = () => {},
): Target {
  return () =>
    functionChannel(
      (text, send) => {
        log.push(text);
        respond(JSON.parse(text), (frame) => send(JSON.stringify(frame)));
      },
      () => ended(),
    );
}

const short = { responseTimeoutMs: 30, drainTimeoutMs: 30, stopGraceMs: 30 };

describe("replay in lockstep", () => {
  it("sends the recorded bytes, and a request only when the one before it is answered", async () => {
    const log: string[] = [];
    const late: (() => void)[] = [];
    const odd = '{ "method":"m" ,"id":1.0,"jsonrpc" : "2.0"}';
    const target = scripted(log, (message, send) => {
      late.push(() => send(answer(message.id)));
      if (message.id === 1) setImmediate(() => [log.push("-- answered"), late.shift()?.()]);
      else late.shift()?.();
    });
    const result = await replay(
      transcript(
        [odd, JSON.stringify(request(2))],
        [answer(1), answer(2)].map((frame) => JSON.stringify(frame)),
      ),
      target,
    );
    expect(result).toMatchObject({ ok: true, stopped: "", differences: [], case: "case" });
    expect(log).toEqual([odd, "-- answered", JSON.stringify(request(2))]);
  });

  it("sends a notification at once, also while a request is pending", async () => {
    const target = scripted([], (message, send) => {
      if (message.method === "cancel") send({ id: 1, error: { code: -1, message: "cancelled" } });
    });
    const result = await replay(
      transcript([request(1), note("cancel")], [{ id: 1, error: { code: -1, message: "cancelled" } }]),
      target,
      short,
    );
    expect(result.differences).toEqual([]);
  });

  it("lets a notification wait for the answers, where the manifest lists its line", async () => {
    for (const inTurn of [[], [2]]) {
      const log: string[] = [];
      const target = scripted(log, (message, send) => {
        if (message.id === 1) setImmediate(() => [log.push("-- answered"), send(answer(1))]);
      });
      await replay(transcript([request(1), note("ready")], [answer(1)], { inTurn }), target);
      expect(log.indexOf("-- answered")).toBe(inTurn.length === 0 ? 2 : 1);
    }
  });

  it("counts what comes after the end of the input", async () => {
    const target: Target = () =>
      functionChannel(
        (text, send) => send(JSON.stringify(answer(JSON.parse(text).id))),
        (send) => send(JSON.stringify(note("bye"))),
      );
    expect((await replay(transcript([request(1)], [answer(1), note("bye")]), target)).differences).toEqual([]);
    expect(
      (await replay(transcript([request(1)], [answer(1)]), target)).differences.map(({ response }) => response),
    ).toEqual([0, 2]);
  });

  it("gives up waiting for an answer, also when others keep coming, and says what it waited for", async () => {
    const target: Target = () => {
      let timer: NodeJS.Timeout;
      return functionChannel(
        (_text, send) => {
          timer = setInterval(() => send(JSON.stringify(note("progress"))), 1);
        },
        () => clearInterval(timer),
      );
    };
    const result = await replay(transcript([request(1), request(2)], [answer(1), answer(2)]), target, short);
    expect(result.stopped).toBe("the answer to request 1 (m) did not come within 30ms");
    expect(result.notes).toEqual([`stopped: ${result.stopped}`]);
    expect(result.differences.at(-1)).toMatchObject({ detail: "this frame is not in the recording" });
  });

  it("waits for each member of a batch", async () => {
    const log: string[] = [];
    const target: Target = () =>
      functionChannel((text, send) => {
        log.push(text);
        const asked = JSON.parse(text);
        if (Array.isArray(asked)) setImmediate(() => send(JSON.stringify([answer(2), answer(1)])));
        else send(JSON.stringify(answer(asked.id)));
      });
    const batch = JSON.stringify([request(1), request(2), note("n")]);
    const result = await replay(
      transcript(
        [batch, JSON.stringify(request(3))],
        [JSON.stringify([answer(2), answer(1)]), JSON.stringify(answer(3))],
      ),
      target,
      short,
    );
    expect(result.differences).toEqual([]);
    expect(log).toHaveLength(2);
  });

  it("refuses a transcript that misses an answer before anything is started", async () => {
    let started = false;
    const target: Target = () => {
      started = true;
      return functionChannel(() => {});
    };
    await expect(replay(transcript([request(1)], []), target)).rejects.toThrow(SuiteError);
    expect(started).toBe(false);
  });

  it("does not wait for what is never answered", async () => {
    const target = scripted([], (message, send) => message.id === 2 && send(answer(2)));
    expect((await replay(transcript([request(1), request(2)], [answer(2)], { unanswered: [1] }), target)).ok).toBe(
      true,
    );
  });
});

describe("the extensions", () => {
  it("pipelined: sends requests without waiting", async () => {
    const ids: unknown[] = [];
    const target = scripted([], (message, send) => {
      ids.push(message.id);
      if (ids.length === 3) for (const id of ids.reverse()) send(answer(id));
    });
    const tape = (flow: Manifest["flow"]) =>
      transcript([request(1), request(2), request(3)], [answer(3), answer(2), answer(1)], { flow });
    expect((await replay(tape("pipelined"), target, short)).ok).toBe(true);
    ids.length = 0;
    expect((await replay(tape("lockstep"), target, short)).stopped).toContain("request 1");
  });

  it("server requests: the recorded answer goes out when its request has come, with the id of this run", async () => {
    const log: string[] = [];
    const target = scripted(log, (message, send) => {
      if (message.id === 1) setImmediate(() => send({ id: "live", method: "ask" }));
      else if (message.method === undefined) send(answer(1));
      else send(answer(message.id));
    });
    const tape = transcript(
      [request(1), { id: "s", result: 7 }, request(2)],
      [{ id: "s", method: "ask" }, answer(1), answer(2)],
      { serverRequests: true, volatile: ["/id"] },
    );
    expect((await replay(tape, target, short)).differences).toEqual([]);
    expect(log[1]).toBe('{"id":"live","result":7}');
  });
});

describe("the workdir", () => {
  it("is fresh for each run, empty, and gone afterwards unless it is kept", async () => {
    const root = mkdtempSync(join(tmpdir(), "stuntdouble-workdir-"));
    const seen: string[] = [];
    const target: Target = ({ bindings }) =>
      functionChannel((text, send) => {
        const { params } = JSON.parse(text);
        expect(params).toBe(bindings.workdir);
        expect(readdirSync(params)).toEqual([]);
        seen.push(params);
        send(JSON.stringify(answer(1)));
      });
    const tape = transcript([request(1, "m", tokenOf("WORKDIR"))], [answer(1)]);
    await replay(tape, target, { workdir: root });
    const kept = await replay(tape, target, { workdir: root, keepWorkdir: true });
    expect(seen.map((folder) => existsSync(folder))).toEqual([false, true]);
    expect(kept.notes).toEqual([`workdir: ${seen[1]}`]);
    rmSync(root, { recursive: true });
  });
});

describe("a pair of streams as a target", () => {
  it("is replayed, with its log and its stop", async () => {
    let stopped = 0;
    const target: Target = () => {
      const stdin = new PassThrough();
      const stdout = new PassThrough();
      stdin.on("data", () => stdout.write(`${JSON.stringify(answer(1))}\n`));
      stdin.on("end", () => stdout.end("no newline"));
      return { stdin, stdout, stderr: () => "log", stop: () => void stopped++ };
    };
    const result = await replay(transcript([request(1)], [answer(1)]), target);
    expect(result).toMatchObject({ stderr: "log", differences: [{ response: 2, got: '"no newline"' }] });
    expect(stopped).toBe(1);
  });
});

describe("a recording played", () => {
  /** A conversation that some adapter could have had: each request with its notices, its question to the client and its answer. */
  const turn = fc.record({
    method: fc.constantFrom("a", "b", "c"),
    before: fc.array(fc.constantFrom("note", "ask", "ask unanswered"), { maxLength: 3 }),
    failed: fc.boolean(),
    value: fc.jsonValue({ maxDepth: 2 }),
    noteAfter: fc.boolean(),
    id: fc.oneof(fc.nat(), fc.string()),
  });

  type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

  function conversation(turns: Turn[], flow: Manifest["flow"], trailing: number) {
    const requests: object[] = [];
    const recorded: object[] = [];
    for (const [index, { method, before, failed, value, noteAfter, id }] of turns.entries()) {
      const unique = typeof id === "number" ? index * 100 + (id % 100) : `${index}${id}`;
      requests.push(request(unique, method, value));
      for (const [at, what] of before.entries()) {
        if (what === "note") recorded.push({ method: "progress", params: value });
        else {
          recorded.push({ id: `q${index}.${at}`, method: "question" });
          if (what === "ask") requests.push({ id: `q${index}.${at}`, result: value });
        }
      }
      recorded.push(failed ? { id: unique, error: { code: 1, message: "no", data: value } } : answer(unique, value));
      if (noteAfter) requests.push(note("noted"));
    }
    for (let at = 0; at < trailing; at++) recorded.push(note(`late ${at}`));
    return transcript(requests, recorded, { serverRequests: true, flow });
  }

  const played =
    (from: Transcript): Target =>
    () => {
      const player = new Player(from);
      return functionChannel((text, send) => {
        for (const frame of player.receive(text)) send(frame);
      });
    };

  it("is a recording passed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 1, maxLength: 6 }),
        fc.constantFrom("lockstep" as const, "pipelined" as const),
        fc.nat(2),
        async (turns, flow, trailing) => {
          const tape = conversation(turns, flow, trailing);
          const result = await replay(tape, played(tape), short);
          expect([result.differences, result.stopped]).toEqual([[], ""]);
          expect(result.responses).toEqual(tape.recorded);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("is passed masked as well, and does not pass when one frame of it is another", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), fc.nat(), async (turns, pick) => {
        const tape = conversation(turns, "lockstep", 0);
        const volatile = ["/result", "/error/data"];
        const masked = {
          ...tape,
          manifest: { ...tape.manifest, volatile },
          recorded: tape.recorded.map((frame) => redact(frame, volatile)),
        };
        expect((await replay(masked, played(tape), short)).ok).toBe(true);
        const at = pick % tape.recorded.length;
        const other = {
          ...tape,
          recorded: tape.recorded.map((frame, index) => (index === at ? frame.replace(/\}$/, ',"extra":1}') : frame)),
        };
        expect((await replay(tape, played(other), short)).differences).toMatchObject([
          { response: at + 1, pointer: "/extra" },
        ]);
      }),
      { numRuns: 40 },
    );
  });
});
