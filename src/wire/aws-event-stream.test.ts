import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AwsEvent, AwsEventStreamParser, bedrockMessage, encodeAwsEvent } from "./aws-event-stream.ts";

const hello: AwsEvent = { type: "messageStart", exception: false, payload: '{"role":"assistant"}' };

const event: fc.Arbitrary<AwsEvent> = fc.record({
  type: fc.stringMatching(/^[a-zA-Z]{1,30}$/),
  exception: fc.boolean(),
  payload: fc.jsonValue().map((value) => JSON.stringify(value)),
});

function bytesOf(events: AwsEvent[]): Buffer {
  return Buffer.concat(events.map(encodeAwsEvent));
}

describe("AWS event streams", () => {
  test("a message has its lengths, headers, payload and checksums where the format has them", () => {
    const bytes = Buffer.from(encodeAwsEvent(hello));
    expect(bytes.readUInt32BE(0)).toBe(bytes.length);
    expect(bytes.subarray(12, 12 + bytes.readUInt32BE(4)).toString("latin1")).toBe(
      "\x0b:event-type\x07\x00\x0cmessageStart\x0d:content-type\x07\x00\x10application/json\x0d:message-type\x07\x00\x05event",
    );
    expect(bytes.subarray(12 + bytes.readUInt32BE(4), -4).toString()).toBe('{"role":"assistant"}');
  });

  test("what is encoded is read again, however the bytes are split", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 5 }), fc.array(fc.nat(40), { maxLength: 30 }), (events, sizes) => {
        const bytes = bytesOf(events);
        const parser = new AwsEventStreamParser();
        const read: AwsEvent[] = [];
        let at = 0;
        for (const size of sizes) {
          read.push(...parser.push(bytes.subarray(at, at + size)));
          at += size;
        }
        read.push(...parser.push(bytes.subarray(at)));
        parser.end();
        expect(read).toEqual(events);
      }),
    );
  });

  test("a stream that ends inside a message says where", () => {
    const parser = new AwsEventStreamParser();
    const bytes = bytesOf([hello, hello]);
    expect(parser.push(bytes.subarray(0, -1))).toEqual([hello]);
    expect(() => parser.end()).toThrow(`at byte ${bytes.length / 2} `);
  });

  test("bytes that are no event stream are an error and nothing else", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          expect(new AwsEventStreamParser().push(bytes)).toEqual([]);
        } catch (error) {
          expect((error as Error).message).toMatch(/^The message at byte 0 is no AWS event stream message: /);
        }
      }),
    );
  });

  test("a wrong byte is found by the checksums", () => {
    const bytes = bytesOf([hello]);
    bytes[60]! ^= 1;
    expect(() => new AwsEventStreamParser().push(bytes)).toThrow(/checksum/i);
  });

  test("a chunk of InvokeModel is what the model wrote, an event of Converse stands under its name", () => {
    const bytes = Buffer.from('{"type":"ping"}').toString("base64");
    expect(bedrockMessage({ type: "chunk", exception: false, payload: JSON.stringify({ bytes }) })).toEqual({
      type: "ping",
    });
    expect(bedrockMessage(hello)).toEqual({ messageStart: { role: "assistant" } });
  });
});
