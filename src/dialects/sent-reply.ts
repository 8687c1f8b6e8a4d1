import { DEFAULT_CHUNK_SIZE, renderUnary, type Stamp } from "./encode.ts";
import { numberedId } from "./ids.ts";
import type { Call, Sent } from "./operation.ts";

export class SentReply implements Sent<unknown> {
  readonly chunkSize: number;
  readonly #out: unknown;
  readonly #call: Call;
  readonly #stamp: Stamp;

  constructor(out: unknown, call: Call, stamp: Stamp, chunkSize = DEFAULT_CHUNK_SIZE) {
    this.chunkSize = chunkSize;
    this.#out = out;
    this.#call = { ...call, raw: call.raw.withoutBytes() };
    this.#stamp = stamp;
  }

  firstId(prefix: string): string {
    return numberedId(prefix, this.#stamp.id, 0);
  }

  unary(request = this.#call.request): string {
    return String(renderUnary(this.#out, { ...this.#call, request }, this.#stamp).bytes());
  }
}
