import type { Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import type { ArrivedChunk, Exchange } from "../dialects/exchange.ts";

/** Codings of a body that can be undone here. */
export const DECODABLE: ReadonlySet<string> = new Set(["gzip", "x-gzip", "deflate", "br"]);

/**
 * The exchange with its body decompressed: each chunk with what it added, at the time at which it came. A body that
 * cannot be decompressed to its end is kept as far as it goes, and `fault` says why.
 * @param coding value of Content-Encoding
 * @throws {Error} for one that is not known here: nobody can tell what is in such a body, so that it must not be kept
 */
export async function decoded(exchange: Exchange, coding: string): Promise<Exchange> {
  const headers = exchange.headers.filter(([name]) => name !== "content-encoding" && name !== "content-length");
  let { chunks, fault } = exchange;
  for (const step of codingsOf(coding)) {
    if (!DECODABLE.has(step)) {
      throw new Error(
        `The reply's Content-Encoding is ${step}, which nobody here can look into for secrets. Call without it in Accept-Encoding.`,
      );
    }
    const first = chunks.find(({ bytes }) => bytes.byteLength > 0)?.bytes;
    if (first === undefined) continue;
    const isWhole = exchange.ending === "complete" && exchange.droppedBytes === 0 && fault === undefined;
    const done = await decompress(decoderOf(step, first), chunks, isWhole);
    chunks = done.result;
    if (done.fault !== undefined) fault ??= `It is no valid ${step}: ${done.fault}`;
  }
  return { ...exchange, headers, chunks, ...(fault !== undefined && { fault }) };
}

/** In the order in which they are undone. */
function codingsOf(coding: string): string[] {
  return coding
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "identity" && name !== "")
    .reverse();
}

/**
 * What has arrived is given out at once: a stream that was cut ends without an end of its coding.
 * @param coding one of `DECODABLE`
 * @param first bytes of the body, at least one
 */
export function decoderOf(coding: string, first: Uint8Array): Transform {
  const flush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
  switch (coding) {
    case "deflate":
      // Some leave zlib's head out, whose first byte ends with the number of the method, which is 8.
      return (first[0]! & 15) === 8 ? createInflate(flush) : createInflateRaw(flush);
    case "br":
      return createBrotliDecompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
      });
    default:
      return createGunzip(flush);
  }
}

async function decompress(
  decoder: Transform,
  chunks: readonly ArrivedChunk[],
  isWhole: boolean,
): Promise<{ result: ArrivedChunk[]; fault?: string }> {
  const result: ArrivedChunk[] = [];
  let atMs = 0;
  let fault: string | undefined;
  decoder.on("data", (bytes: Buffer) => result.push({ atMs, bytes }));
  const failed = new Promise<void>((resolve) => {
    decoder.on("error", (error) => {
      fault = error.message;
      resolve();
    });
  });
  for (const chunk of chunks) {
    atMs = chunk.atMs;
    await Promise.race([new Promise<void>((resolve) => void decoder.write(chunk.bytes, () => resolve())), failed]);
    if (fault !== undefined) break;
  }
  if (fault === undefined && isWhole) {
    await Promise.race([new Promise<void>((resolve) => void decoder.end(() => resolve())), failed]);
  }
  decoder.destroy();
  return { result, ...(fault !== undefined && { fault }) };
}
