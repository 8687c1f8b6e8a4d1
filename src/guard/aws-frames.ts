import { crc32 } from "node:zlib";

/** A message of an AWS event stream as its bytes stand. */
export interface AwsFrame {
  start: number;
  end: number;
  headers: Buffer;
  payload: Buffer;
}

/** Lengths of the message and of its headers, and their checksum. */
const PRELUDE = 12;
const CHECKSUM = 4;

/**
 * The whole messages of a stream (https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html), with
 * all their headers, which `wire`'s parser does not keep. Ends at what is no message: a stream may be cut.
 */
export function awsFrames(bytes: Buffer): AwsFrame[] {
  const frames: AwsFrame[] = [];
  for (let start = 0; start + PRELUDE + CHECKSUM <= bytes.length; ) {
    const length = bytes.readUInt32BE(start);
    const headersLength = bytes.readUInt32BE(start + 4);
    const end = start + length;
    const payloadStart = start + PRELUDE + headersLength;
    if (payloadStart + CHECKSUM > end || end > bytes.length) break;
    frames.push({
      start,
      end,
      headers: bytes.subarray(start + PRELUDE, payloadStart),
      payload: bytes.subarray(payloadStart, end - CHECKSUM),
    });
    start = end;
  }
  return frames;
}

/** The message with another payload. */
export function withPayload({ headers }: AwsFrame, payload: Buffer): Buffer {
  const message = Buffer.alloc(PRELUDE + headers.length + payload.length + CHECKSUM);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(headers.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  headers.copy(message, PRELUDE);
  payload.copy(message, PRELUDE + headers.length);
  message.writeUInt32BE(crc32(message.subarray(0, message.length - CHECKSUM)), message.length - CHECKSUM);
  return message;
}
