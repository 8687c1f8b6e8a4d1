import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { SuiteError } from "./errors.ts";
import { Player } from "./player.ts";
import type { Manifest, Transcript } from "./transcript.ts";

function transcript(requests: string[], recorded: string[], manifest: Partial<Manifest> = {}): Transcript {
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
  return { dir: "/nowhere/case", manifest: full, requests, recorded };
}

const two = () =>
  transcript(
    ['{"id":1,"method":"a","params":{"at":"then"}}', '{"method":"n"}', '{"id":2,"method":"b"}'],
    ['{"method":"p"}', '{ "id":1, "result": 1.0 }', '{"method":"q"}', '{"id":2,"error":{"code":5}}'],
  );

describe("Player", () => {
  it("answers by position and method, with the live id and all else as recorded", () => {
    const player = new Player(two());
    expect(player.receive('{"id":"live","method":"a","params":{"at":"now"}}')).toEqual([
      '{"method":"p"}',
      '{ "id":"live", "result": 1.0 }',
    ]);
    expect(player.receive('{"method":"n"}')).toEqual([]);
    expect(player.receive('{"id":9007199254740993,"method":"b"}')).toEqual([
      '{"method":"q"}',
      '{"id":9007199254740993,"error":{"code":5}}',
    ]);
    expect(player.report()).toEqual({ complete: true, refused: "", consumed: 3, recorded: 3 });
  });

  it.each([
    [
      "another method",
      '{"id":7,"method":"b"}',
      'the request "b" is not what comes next: line 1 of the transcript "case" is the request "a".',
    ],
    ["a notification for a request", '{"method":"a"}', 'the notification "a" is not what comes next'],
    ["a batch for a single request", '[{"id":7,"method":"a"}]', 'a batch of the request "a" is not what comes next'],
    ["an answer to nothing", '{"id":7,"result":1}', "The client answers the id 7, which nobody asks."],
    ["what is no message", "hello", "A line is no JSON-RPC message"],
  ])("refuses %s, and the play is over", (_, line, message) => {
    const player = new Player(two());
    const frames = player.receive(line);
    expect(player.report().refused).toContain(message);
    if (line.includes('"id":7,"method"'))
      expect(JSON.parse(frames[0] as string)).toMatchObject({
        id: 7,
        error: { code: -32600, message: expect.stringContaining(message) },
      });
    expect(player.ended).toBe(true);
    expect(player.receive('{"id":1,"method":"a"}')).toEqual([]);
  });

  it("refuses what comes after the last line", () => {
    const player = new Player(transcript(['{"id":1,"method":"a"}'], ['{"id":1,"result":1}']));
    player.receive('{"id":1,"method":"a"}');
    expect(player.receive('{"id":2,"method":"a"}')[0]).toContain("comes after the last of the 1 recorded lines");
  });

  it("refuses a transcript that misses an answer when it is made", () => {
    expect(() => new Player(transcript(['{"id":1,"method":"a"}'], []))).toThrow(SuiteError);
  });

  it("does not answer what was never answered", () => {
    const player = new Player(
      transcript(['{"id":1,"method":"a"}', '{"id":2,"method":"b"}'], ['{"id":2,"result":1}'], { unanswered: [1] }),
    );
    expect([player.receive('{"id":1,"method":"a"}'), player.receive('{"id":2,"method":"b"}')]).toEqual([
      [],
      ['{"id":2,"result":1}'],
    ]);
  });

  it("keeps what follows a question to the client until the client has answered it", () => {
    const tape = transcript(
      ['{"id":1,"method":"a"}', '{"id":"q","result":0}'],
      ['{"id":"q","method":"ask"}', '{"id":1,"result":1}'],
      { serverRequests: true },
    );
    const player = new Player(tape);
    expect(player.receive('{"id":5,"method":"a"}')).toEqual(['{"id":"q","method":"ask"}']);
    expect(player.receive('{"id":"q","error":{"code":1}}')).toEqual(['{"id":5,"result":1}']);
    expect(player.report().complete).toBe(true);
  });

  it("answers a batch with a batch", () => {
    const player = new Player(
      transcript(['[{"id":1,"method":"a"},{"id":2,"method":"b"}]'], ['[{"id":2,"result":2},{"id":1,"result":1}]']),
    );
    expect(player.receive('[{"id":"x","method":"a"},{"id":"y","method":"b"}]')).toEqual([
      '[{"id":"y","result":2},{"id":"x","result":1}]',
    ]);
  });

  it("serves a pair of streams, until the input ends or it has to refuse", async () => {
    const serve = async (input: string) => {
      const output = new PassThrough();
      const reading = text(output);
      const source = new PassThrough();
      source.end(input);
      return { report: await new Player(two()).serve(source, output), written: await reading };
    };
    expect(await serve('{"id":1,"method":"a"}\n')).toEqual({
      report: { complete: false, refused: "", consumed: 1, recorded: 3 },
      written: '{"method":"p"}\n{ "id":1, "result": 1.0 }\n',
    });
    const refused = await serve('{"id":1,"method":"z"}\n{"id":2,"method":"a"}\n');
    expect(refused.written.trimEnd().split("\n")).toHaveLength(1);
    expect(refused.report.refused).toContain('"z"');
  });
});
