import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";

export type NodeRequest = IncomingMessage | Http2ServerRequest;

export type BodyFault = { status: 413 | 415 | 400; message: string };

/**
 * Collects the body of a request and hands it over complete and decompressed, or says what is wrong with it.
 * Nothing is called if the client goes away first.
 * @param limit bytes, before and after decompression
 */
export function readBody(
  request: NodeRequest,
  limit: number,
  done: (body: Uint8Array) => void,
  fault: (fault: BodyFault) => void,
): void {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limit) {
    request.resume();
    return fault(tooLarge(limit, `declares ${declared} bytes`));
  }
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let length = 0;
  request.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > limit) {
      if (length - chunk.length <= limit) fault(tooLarge(limit, "is longer"));
      // The rest is read and dropped, so that the client gets to see the answer.
      first = undefined;
      more = undefined;
    } else if (first === undefined) first = chunk;
    else if (more === undefined) more = [first, chunk];
    else more.push(chunk);
  });
  request.on("end", () => {
    if (length > limit) return;
    const body = more !== undefined ? Buffer.concat(more, length) : (first ?? EMPTY);
    const coding = request.headers["content-encoding"];
    if (coding === undefined || coding === "identity") done(body);
    else decompress(body, coding, limit, done, fault);
  });
}

const EMPTY = Buffer.alloc(0);

function tooLarge(limit: number, how: string): BodyFault {
  return { status: 413, message: `The request body ${how}; the limit is ${limit} bytes.` };
}

function decompress(
  body: Buffer,
  codings: string,
  limit: number,
  done: (body: Uint8Array) => void,
  fault: (fault: BodyFault) => void,
): void {
  // Loaded when a client compresses, which few do.
  import("node:zlib").then((zlib) => {
    const steps = codings
      .split(",")
      .map((coding) => coding.trim().toLowerCase())
      .reverse();
    const step = (at: number, bytes: Buffer): void => {
      const coding = steps[at];
      if (coding === undefined) return done(bytes);
      const next = (error: Error | null, result: Buffer): void => {
        if (error === null) return step(at + 1, result);
        if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return fault(tooLarge(limit, "is longer once it is decompressed"));
        fault({ status: 400, message: `The request body is no valid ${coding}: ${error.message}.` });
      };
      const options = { maxOutputLength: limit };
      if (coding === "gzip" || coding === "x-gzip") zlib.gunzip(bytes, options, next);
      else if (coding === "deflate") zlib.inflate(bytes, options, next);
      else if (coding === "br") zlib.brotliDecompress(bytes, options, next);
      else if (coding === "identity") step(at + 1, bytes);
      else fault({ status: 415, message: `Content-Encoding ${coding} is not supported; send gzip, deflate, br or none.` });
    };
    step(0, body);
  });
}
