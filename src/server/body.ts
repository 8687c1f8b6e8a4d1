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
  refuse: (fault: BodyFault) => void,
): void {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limit) {
    request.resume();
    refuse(tooLarge(limit, `declares ${declared} bytes`));
    return;
  }
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let length = 0;
  request.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > limit) {
      if (length - chunk.length <= limit) refuse(tooLarge(limit, "is longer"));
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
    else decompress(body, coding, limit).then(done, refuse);
  });
}

const EMPTY = Buffer.alloc(0);

function tooLarge(limit: number, how: string): BodyFault {
  return fault(413, `The request body ${how}; the limit is ${limit} bytes.`);
}

/** @throws {BodyFault} */
async function decompress(body: Buffer, codings: string, limit: number): Promise<Uint8Array> {
  // Loaded when a client compresses, which few do.
  const [zlib, { promisify }] = await Promise.all([import("node:zlib"), import("node:util")]);
  const decoders: Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
    gzip: promisify(zlib.gunzip),
    "x-gzip": promisify(zlib.gunzip),
    deflate: promisify(zlib.inflate),
    br: promisify(zlib.brotliDecompress),
    identity: async (bytes) => bytes,
  };
  let bytes = body;
  // The coding that was applied last is named last.
  for (const coding of codings
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .reverse()) {
    const decode = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
    if (decode === undefined) {
      throw fault(415, `Content-Encoding ${coding} is not supported; send gzip, deflate, br or none.`);
    }
    bytes = await decode(bytes, { maxOutputLength: limit }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(limit, "is longer once it is decompressed");
      throw fault(400, `The request body is no valid ${coding}: ${error.message}.`);
    });
  }
  return bytes;
}

const fault = (status: BodyFault["status"], message: string): BodyFault => ({ status, message });
