import { EventStreamCodec } from "@smithy/eventstream-codec";

/** One message of an AWS event stream. */
export interface AwsEvent {
  /** The event's or the exception's name. */
  type: string;
  exception: boolean;
  /** JSON, in the APIs that are read here. */
  payload: string;
}

// Of the format: 4 bytes each for the lengths of the message and of its headers, and two checksums.
const SHORTEST_MESSAGE = 16;
/** More than the 16 MB that AWS allows a payload to have. */
const LONGEST_MESSAGE = 24 * 1024 * 1024;

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("utf8")),
  (text) => Buffer.from(text, "utf8"),
);

/**
 * One message on the wire.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
 */
export function encodeAwsEvent({ type, exception, payload }: AwsEvent): Uint8Array {
  const header = (value: string) => ({ type: "string" as const, value });
  return codec.encode({
    headers: {
      [exception ? ":exception-type" : ":event-type"]: header(type),
      ":content-type": header("application/json"),
      ":message-type": header(exception ? "exception" : "event"),
    },
    body: Buffer.from(payload, "utf8"),
  });
}

/** Reads AWS event streams as they come. */
export class AwsEventStreamParser {
  /** The message that has begun. Joined once it ends: a long one may come in a thousand pieces. */
  #pieces: Uint8Array[] = [];
  #length = 0;
  /** Bytes of the message that has begun; undefined until its first four are there. */
  #wanted: number | undefined;
  /** Of the bytes before this message, for the error that names its place. */
  #offset = 0;

  /**
   * @param bytes the next piece, which may end anywhere
   * @throws {Error} when they are no event stream: a length that cannot be, or a checksum that is wrong
   */
  push(bytes: Uint8Array): AwsEvent[] {
    this.#pieces.push(bytes);
    this.#length += bytes.byteLength;
    if (this.#length < (this.#wanted ?? 4)) return [];
    let rest: Uint8Array = this.#pieces.length === 1 ? bytes : Buffer.concat(this.#pieces, this.#length);
    const events: AwsEvent[] = [];
    for (;;) {
      this.#wanted = rest.byteLength < 4 ? undefined : this.#lengthOf(rest);
      if (this.#wanted === undefined || rest.byteLength < this.#wanted) break;
      events.push(this.#decode(rest.subarray(0, this.#wanted)));
      rest = rest.subarray(this.#wanted);
      this.#offset += this.#wanted;
    }
    this.#pieces = rest.byteLength === 0 ? [] : [rest];
    this.#length = rest.byteLength;
    return events;
  }

  /** @throws {Error} when the stream ends inside a message */
  end(): void {
    if (this.#length > 0) throw this.#error(`it ends after ${this.#length} of ${this.#wanted ?? "at least 16"} bytes`);
  }

  #lengthOf(bytes: Uint8Array): number {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
    if (length >= SHORTEST_MESSAGE && length <= LONGEST_MESSAGE) return length;
    throw this.#error(`it claims to have ${length} bytes`);
  }

  #decode(bytes: Uint8Array): AwsEvent {
    try {
      const { headers, body } = codec.decode(bytes);
      const text = (name: string): string => String(headers[name]?.value ?? "");
      const kind = text(":message-type");
      const type = text(kind === "exception" ? ":exception-type" : kind === "error" ? ":error-code" : ":event-type");
      const payload = kind === "error" ? JSON.stringify({ message: text(":error-message") }) : textOf(body);
      return { type, exception: kind !== "event", payload };
    } catch (error) {
      throw this.#error(error instanceof Error ? error.message : String(error));
    }
  }

  #error(reason: string): Error {
    return new Error(`The message at byte ${this.#offset} is no AWS event stream message: ${reason}.`);
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/**
 * What an event of Amazon Bedrock says, in the form in which its rules read it: an event of Converse under its name,
 * a `chunk` of InvokeModel as the model wrote it.
 * @throws {SyntaxError} if its payload is no JSON
 */
export function bedrockMessage({ type, payload }: AwsEvent): unknown {
  const value = JSON.parse(payload) as { bytes?: unknown } | null;
  if (type !== "chunk" || typeof value?.bytes !== "string") return { [type]: value };
  return JSON.parse(Buffer.from(value.bytes, "base64").toString("utf8"));
}
