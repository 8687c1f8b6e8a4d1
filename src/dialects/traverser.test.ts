import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foldFrames } from "../chat/fold.ts";
import type { Part } from "../chat/reply.ts";
import { anthropicRules } from "./anthropic/rules.ts";
import { openaiChatRules } from "./openai-chat/rules.ts";
import { openaiResponsesRules } from "./openai-responses/rules.ts";
import type { Rule, Rules } from "./rules.ts";
import { Traverser } from "./traverser.ts";

function read(rules: Rules | Rule[], messages: unknown[]) {
  const reader = new Traverser(Array.isArray(rules) ? { rules } : rules, "made-up");
  messages.forEach((message, index) => {
    reader.push(message, index * 10);
  });
  const reply = reader.finish();
  return { reader, reply, parts: reply.choices[0]?.parts ?? [] };
}

const parts = (rules: Rule[], messages: unknown[]): Part[] => read(rules, messages).parts;
const say: Rule = { as: "text", fields: { text: { take: "say", op: "append" } } };
const think: Rule = { as: "reasoning", fields: { text: { take: "think", op: "append" } } };

describe("parts", () => {
  test("without a key, neighbours of one kind are one part", () => {
    const messages = [{ think: "a" }, { think: "b" }, { say: "c" }, { say: "d" }, { think: "e" }];
    expect(parts([think, say], messages)).toEqual([
      { type: "reasoning", text: "ab" },
      { type: "text", text: "cd" },
      { type: "reasoning", text: "e" },
    ]);
  });

  test("without a key, an empty piece opens none", () => {
    expect(parts([say], [{ say: "" }])).toEqual([]);
  });

  test("with a key, pieces find their part in any order", () => {
    const rule: Rule = { key: ["at"], as: "text", fields: { text: { take: "say", op: "append" } } };
    const messages = [
      { at: 1, say: "a" },
      { at: "1", say: "b" },
      { at: 1, say: "c" },
    ];
    expect(parts([rule], messages)).toEqual([
      { type: "text", text: "ac" },
      { type: "text", text: "b" },
    ]);
  });

  test("keys of nested rules add up, and a list of paths gives alternatives", () => {
    const inner: Rule = { each: "in.*", key: [["no", "#"]], as: "text", fields: { text: { take: "t", op: "append" } } };
    const rule: Rule = { each: "out.*", key: ["#"], rules: [inner] };
    const message = { out: [{ in: [{ t: "a" }, { t: "b" }] }, { in: [{ t: "c" }, { no: 0, t: "d" }] }] };
    expect(parts([rule], [message])).toEqual(["a", "b", "cd"].map((text) => ({ type: "text", text })));
  });

  test("`opens` makes a part of each piece, or leaves pieces alone that have none", () => {
    const call: Rule = { as: "toolCall", opens: "always", fields: { name: "call" } };
    const more: Rule = { as: "toolCall", opens: "never", fields: { arguments: { take: "more", op: "append" } } };
    const messages = [{ more: "lost" }, { call: "a" }, { more: "1" }, { call: "a" }, { more: "2" }];
    expect(parts([call, more], messages)).toEqual([
      { type: "toolCall", name: "a", arguments: "1" },
      { type: "toolCall", name: "a", arguments: "2" },
    ]);
  });

  test("a choice's number is what the message says, not where it stands", () => {
    const rule: Rule = { each: "list.*", choice: "n", rules: [say] };
    const { reply } = read(
      [rule],
      [
        { list: [{ n: 1, say: "b" }] },
        {
          list: [
            { n: 1, say: "c" },
            { n: 0, say: "a" },
          ],
        },
      ],
    );
    expect(reply.choices.map(({ parts }) => parts)).toEqual([
      [{ type: "text", text: "a" }],
      [{ type: "text", text: "bc" }],
    ]);
  });

  test("`oneOf` takes the first rule that applies", () => {
    const rule: Rule = {
      each: "*",
      oneOf: [
        { when: { kind: ["a", null] }, ...say },
        { when: { think: { exists: true } }, ...think },
        { as: "opaque", opens: "always", fields: { value: "" } },
      ],
    };
    const items = [{ kind: "a", say: "1" }, { say: "2" }, { kind: "b", think: "3" }, { kind: "c" }];
    expect(parts([rule], [items])).toEqual([
      { type: "text", text: "12" },
      { type: "reasoning", text: "3" },
      { type: "opaque", dialect: "made-up", value: { kind: "c" } },
    ]);
  });
});

describe("what is taken", () => {
  const field = (take: NonNullable<Rule["fields"]>[string], name = "native"): Rule => ({
    key: ["=one"],
    as: "toolCall",
    fields: { [name]: take },
  });
  const native = (take: NonNullable<Rule["fields"]>[string], messages: unknown[]): unknown => {
    const part = parts([field(take)], messages)[0];
    return part?.type === "toolCall" ? part.native?.value : undefined;
  };

  test("the last one wins, null and nothing win nothing", () => {
    expect(native("x", [{ x: 1 }, { x: 2 }, { x: null }, {}])).toBe(2);
  });

  test("the first path that leads to something", () => {
    expect(native(["x.0.y", "z"], [{ x: [{ y: null }], z: 5 }])).toBe(5);
  });

  test("what only the prototype has is not there", () => {
    expect(native(["constructor", "x.push", "__proto__"], [{ x: [] }])).toBeUndefined();
  });

  test("an object without some members", () => {
    expect(native({ take: "", except: ["a"] }, [{ a: 1, b: 2 }])).toEqual({ b: 2 });
    expect(native({ take: "", except: ["a"] }, [{ a: 1 }])).toBeUndefined();
  });

  test("lists are joined, members merged", () => {
    expect(native({ take: "x", op: "append" }, [{ x: [1] }, { x: [2, 3] }])).toEqual([1, 2, 3]);
    expect(native({ take: "x", via: "list", op: "append" }, [{ x: 1 }, { x: 2 }])).toEqual([1, 2]);
    const messages = [{ x: { a: 1, b: null } }, { x: { a: null, c: 3 } }];
    expect(native({ take: "x", op: "merge" }, messages)).toEqual({ a: 1, b: null, c: 3 });
  });

  test("JSON text of a value; a text is that already", () => {
    const rule = field({ take: "x", via: "json", op: "append" }, "arguments");
    expect(parts([rule], [{ x: { a: 1 } }])).toEqual([{ type: "toolCall", name: "", arguments: '{"a":1}' }]);
    expect(parts([rule], [{ x: '{"a"' }, { x: ":1}" }])).toEqual([
      { type: "toolCall", name: "", arguments: '{"a":1}' },
    ]);
  });

  test("a fallback is used if nothing else has come", () => {
    const rules = [
      field({ take: "whole", via: "json", op: "fallback" }, "arguments"),
      field({ take: "piece", op: "append" }, "arguments"),
    ];
    const call = (text: string): Part[] => [{ type: "toolCall", name: "", arguments: text }];
    expect(parts(rules, [{ whole: { a: 1 } }])).toEqual(call('{"a":1}'));
    expect(parts(rules, [{ whole: {} }, { piece: '{"b"' }, { piece: ":2}" }])).toEqual(call('{"b":2}'));
  });

  test("pieces of JSON become a value, or stay the text that they are", () => {
    const rule: Rule = {
      key: ["=one"],
      as: "opaque",
      fields: { value: "start", "value.in": { take: "more", op: "json" } },
    };
    const value = (more: string): Part[] => [{ type: "opaque", dialect: "made-up", value: { in: more } }];
    const read = (...pieces: string[]) => parts([rule], [{ start: { in: {} } }, ...pieces.map((more) => ({ more }))]);
    expect(read("[1,", "2]")).toEqual([{ type: "opaque", dialect: "made-up", value: { in: [1, 2] } }]);
    expect(read("[1,")).toEqual(value("[1,"));
  });

  test("a value of another type than the field is not taken", () => {
    const rule: Rule = { key: ["=one"], as: "toolCall", fields: { id: "id", name: "name" } };
    expect(parts([rule], [{ id: 7, name: "a" }, { name: {} }])).toEqual([
      { type: "toolCall", name: "a", arguments: "" },
    ]);
  });
});

describe("the reply", () => {
  const rules: Rules = {
    rules: [
      say,
      { as: "toolCall", opens: "always", fields: { name: "call" } },
      { as: "usage", fields: { raw: { take: "count", op: "merge" } } },
      { as: "envelope", fields: { id: "id", native: { take: "more", op: "merge" } } },
      { as: "error", fields: { message: "oops.text", native: "oops" } },
      { as: "finish", fields: { reason: "why", stopSequence: "at" } },
    ],
    finishReasons: { DONE: "stop" },
    toolCallsFinish: true,
    usage: { promptTokens: ["in", "cached"], completionTokens: [["out", "old"]] },
  };

  test("the finish reason keeps the provider's word", () => {
    expect(read(rules, [{ say: "a", why: "DONE", at: "X" }]).reply.choices[0]?.finish).toEqual({
      reason: "stop",
      native: { dialect: "made-up", value: "DONE" },
      stopSequence: "X",
    });
    expect(read(rules, [{ say: "a", why: "ODD" }]).reply.choices[0]?.finish.reason).toBe("ODD");
  });

  test("tools are why a reply stopped where the provider does not say so, also if they come later", () => {
    const { reply } = read(rules, [{ why: "DONE" }, { call: "a" }]);
    expect(reply.choices[0]?.finish.reason).toBe("tool_calls");
  });

  test("a stream that was cut has not finished; one with an error says so", () => {
    const cut = read(rules, [{ say: "a" }]);
    expect([cut.reader.finished, cut.reply.choices[0]?.finish]).toEqual([false, { reason: "stop" }]);
    const failed = read(rules, [{ say: "a" }, { oops: { text: "no" } }]);
    expect(failed.reply.choices[0]?.finish).toEqual({ reason: "error" });
    expect(failed.reader.frames.map(({ event }) => event)).toContainEqual({
      type: "error",
      message: "no",
      native: { dialect: "made-up", value: { text: "no" } },
    });
  });

  test("usage is merged, then counted", () => {
    const { reply } = read(rules, [{ count: { in: 5, cached: 2, old: 9 } }, { count: { in: 6, out: 1 } }]);
    expect(reply.usage).toEqual({
      promptTokens: 8,
      completionTokens: 1,
      raw: { dialect: "made-up", value: { in: 6, cached: 2, old: 9, out: 1 } },
    });
  });

  test("messages that no rule has anything to take from are counted", () => {
    expect(read(rules, [{ say: "a" }, { other: 1 }, null, 3, [], { say: null }]).reader.unknown).toBe(5);
  });

  test("a part without a key ends when another begins, one with a key goes on", () => {
    const call: Rule = {
      key: ["no"],
      as: "toolCall",
      fields: { name: "call", arguments: { take: "more", op: "append" } },
    };
    const { reader, parts } = read(
      [{ when: { no: { exists: true } }, rules: [call] }, say],
      [{ say: "a" }, { no: 1, call: "f" }, { say: "b" }, { no: 1, more: "{}" }],
    );
    expect(parts[1]).toEqual({ type: "toolCall", name: "f", arguments: "{}" });
    expect(reader.frames.map(({ part, event }) => `${event.type} ${part}`)).toEqual([
      ...["start 0", "delta 0", "stop 0", "start 1", "start 2", "delta 2", "delta 1"],
      ...["stop 1", "stop 2", "finish -1"],
    ]);
  });

  test("frames have the time of their message, and parts a start and a stop", () => {
    const { reader } = read(rules, [{ say: "a" }, { say: "b" }, { call: "f", why: "DONE" }]);
    expect(reader.frames.map(({ atMs, part, event }) => [atMs, part, event.type])).toEqual([
      [0, 0, "start"],
      [0, 0, "delta"],
      [10, 0, "delta"],
      [20, 0, "stop"],
      [20, 1, "start"],
      [20, 1, "stop"],
      [20, -1, "finish"],
    ]);
  });
});

describe("whatever comes", () => {
  const sets = { openaiChatRules, openaiResponsesRules, anthropicRules };
  // Words of the dialects, so that arbitrary messages get past the first step.
  const words = [
    ..."type message delta content content_block index usage error choices tool_calls function arguments id".split(" "),
    ..."object response item_id item output output_index summary_index response.completed response.output_text.delta".split(
      " ",
    ),
    ..."response.reasoning_summary_text.delta response.output_item.added response.output_item.done reasoning".split(
      " ",
    ),
    ..."message_start content_block_start content_block_delta content_block_stop text tool_use input name".split(" "),
    ..."input_json_delta partial_json thinking citations logprobs __proto__ constructor finish_reason length".split(
      " ",
    ),
  ];
  const word = fc.constantFrom(...words);
  const { message } = fc.letrec<{ message: unknown }>((tie) => ({
    message: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.oneof(word, fc.nat(3), fc.constantFrom(null, true, -1, 0.5, 1e300, ""), fc.string()),
      fc.array(tie("message"), { maxLength: 4 }),
      fc.dictionary(word, tie("message"), { maxKeys: 6 }).map((value) => JSON.parse(JSON.stringify(value))),
    ),
  }));

  test.each(Object.entries(sets))("%s never throw, and the frames fold to the reply", (_name, rules) => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), (messages) => {
        const { reader, reply } = read(rules, messages);
        expect(foldFrames(reader.frames)).toEqual(reply);
        expect(({} as Record<string, unknown>)["index"]).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
  });

  test("a message nested without end is passed over", () => {
    let deep: unknown = {};
    for (let level = 0; level < 10_000; level++) deep = { content: [deep], type: "message" };
    expect(read(anthropicRules, [deep]).reader.unknown).toBe(1);
  });

  test.each(Object.entries(sets))("%s are data", (_name, rules) => {
    expect(JSON.parse(JSON.stringify(rules))).toEqual(rules);
  });
});
