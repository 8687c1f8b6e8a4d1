import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorResponse, idKeyOf, isMessage, onOneLine, type RpcMessage, readMessage, withIds } from "./json-rpc.ts";

function read(text: string): RpcMessage {
  const message = readMessage(text);
  if (!isMessage(message)) throw new Error(message.reason);
  return message;
}

const reason = (text: string) => {
  const message = readMessage(text);
  return isMessage(message) ? "" : message.reason;
};

describe("readMessage", () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"method":"a"}', "request", "1"],
    ['{"jsonrpc":"2.0","id":null,"method":"a"}', "request", "null"],
    ['{"jsonrpc":"2.0","method":"a","params":{"id":5}}', "notification", undefined],
    ['{"id": 9007199254740993 ,"result":{"id":2}}', "response", "9007199254740993"],
    ['{"error":{"code":1},"id":"1"}', "response", '"1"'],
    ['{"id":1.0,"result":null}', "response", "1.0"],
  ])("reads %s as a %s with the id as written", (text, kind, id) => {
    expect(read(text).members).toMatchObject([{ kind, id }]);
  });

  it("reads batches", () => {
    const message = read('[{"id":1,"method":"a"},{"method":"b"}]');
    expect([message.batch, message.members.map((member) => member.kind)]).toEqual([true, ["request", "notification"]]);
  });

  it("says why something is no message", () => {
    expect(reason("{")).toMatch(/^it is no JSON/);
    expect(reason("3")).toBe("it is no object");
    expect(reason('{"method":3}')).toBe("its method is no string");
    expect(reason('{"id":{},"result":1}')).toBe("its id is no string, number or null");
    expect(reason('{"id":1}')).toBe("it has no method, result or error");
    expect(reason('{"result":1}')).toBe("it has a result or an error, but no id");
    expect(reason("[]")).toBe("it is an empty batch");
    expect(reason('[{"id":1,"method":"a"},4]')).toBe("it is no object (member 2 of a batch)");
  });

  it("never throws", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => readMessage(text).text === text));
  });
});

describe("ids", () => {
  it('are the same when they are the same value, and 1 is not "1"', () => {
    expect(idKeyOf("1")).not.toBe(idKeyOf('"1"'));
    expect(idKeyOf("1")).toBe(idKeyOf("1.0"));
    expect(idKeyOf('"a"')).toBe(idKeyOf('"\\u0061"'));
    expect(idKeyOf("9007199254740993")).not.toBe(idKeyOf("9007199254740992"));
    expect(idKeyOf("null")).not.toBe(idKeyOf('"null"'));
  });

  it("are replaced, whatever they are, and nothing else is", () => {
    const id = fc
      .oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }))
      .map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(id, id, fc.json(), fc.boolean(), (from, to, result, first) => {
        const frame = (written: string) =>
          first ? `{"id" :${written}, "result":${result} }` : `{ "result":${result},"id": ${written}}`;
        expect(withIds(read(frame(from)), () => to)).toBe(frame(to));
      }),
    );
  });

  it("are replaced one by one in a batch", () => {
    expect(
      withIds(read('[{"id":1,"result":0},{"id":2,"result":0}]'), (member) => (member.id === "2" ? '"x"' : undefined)),
    ).toBe('[{"id":1,"result":0},{"id":"x","result":0}]');
  });
});

it("writes errors with the id as it was asked", () => {
  expect(errorResponse("9007199254740993", -32600, "no")).toBe(
    '{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32600,"message":"no"}}',
  );
});

it("puts JSON on one line without changing what it says", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const line = onOneLine(JSON.stringify(value, null, 2).replaceAll("\n", "\r\n"));
      expect(line).not.toMatch(/[\r\n]/);
      expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
