import type { Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { ArrivedChunk, Exchange } from "../dialects/exchange.ts";

/**
 * The exchange with its body decompressed: each chunk with what it added, at the time at which it came. A body that
 * cannot be decompressed to its end is kept as far as it goes, and `fault` says why.
 * @param coding value of Content-Encoding
 */
export async function decoded(exchange: Exchange, coding: string): Promise<Exchange> {
  const headers = exchange.headers.filter(([name]) => name !== "content-encoding" && name !== "content-length");
  let { chunks } = exchange;
  for (const step of coding
    .split(",")
    .map((name) => name.trim())
    .reverse()) {
    if (step === "identity" || step === "") continue;
    const decoder = decoderOf(step);
    if (decoder === undefined) return { ...exchange, fault: `Its Content-Encoding ${step} is not known.` };
    const { result, fault } = await decompress(
      decoder,
      chunks,
      exchange.ending === "complete" && exchange.droppedBytes === 0,
    );
    chunks = result;
    if (fault !== undefined) return { ...exchange, headers, chunks, fault: `It is no valid ${step}: ${fault}` };
  }
  return { ...exchange, headers, chunks };
}

/** What has arrived is given out at once: a stream that was cut ends without an end of its coding. */
export function decoderOf(coding: string): Transform | undefined {
  const flush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip(flush);
    case "deflate":
      return createInflate(flush);
    case "br":
      return createBrotliDecompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
      });
    default:
      return undefined;
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
