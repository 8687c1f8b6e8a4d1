/** Reads lines of JSON (https://github.com/ndjson/ndjson-spec) as they come. Blank lines are passed over. */
export class NdjsonParser {
  readonly #decoder = new TextDecoder();
  /** The line that has begun. Joined once it ends: a line of megabytes may come in a thousand pieces. */
  #pieces: string[] = [];

  /**
   * @param bytes the next piece, which may end anywhere, also inside a character
   * @returns the lines that it ends, each the text of one JSON value
   */
  push(bytes: Uint8Array): string[] {
    return this.#feed(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The last line, if no line break closed it. */
  end(): string[] {
    return this.#feed(`${this.#decoder.decode()}\n`);
  }

  #feed(text: string): string[] {
    const lines = text.split("\n");
    const rest = lines.pop() ?? "";
    if (lines.length > 0) {
      lines[0] = this.#pieces.join("") + lines[0];
      this.#pieces = [];
    }
    if (rest !== "") this.#pieces.push(rest);
    return lines.map((line) => line.trim()).filter((line) => line !== "");
  }
}

/** One JSON value on the wire. */
export function encodeNdjson(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
