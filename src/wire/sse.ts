import { createParser } from "eventsource-parser";

/** One event of a stream of server-sent events. */
export interface SseMessage {
  event?: string;
  id?: string;
  data: string;
}

/** A line that clients pass over; providers send them to keep a connection open. */
export interface SseComment {
  comment: string;
}

/** Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) as they come. */
export class SseParser {
  readonly #decoder = new TextDecoder();
  #read: (SseMessage | SseComment)[] = [];
  readonly #parser = createParser({
    onEvent: ({ event, id, data }) => {
      const message: SseMessage = { data };
      if (event !== undefined) message.event = event;
      if (id !== undefined) message.id = id;
      this.#read.push(message);
    },
    onComment: (comment) => this.#read.push({ comment }),
  });

  /** @param bytes the next piece, which may end anywhere, also inside a character */
  push(bytes: Uint8Array): (SseMessage | SseComment)[] {
    return this.#feed(this.#decoder.decode(bytes, { stream: true }));
  }

  /**
   * What is left at the end. A browser drops an event that no blank line closes, but several providers close
   * their last event by closing the connection, and their SDKs read it.
   */
  end(): (SseMessage | SseComment)[] {
    return this.#feed(`${this.#decoder.decode()}\n\n`);
  }

  #feed(text: string): (SseMessage | SseComment)[] {
    this.#parser.feed(text);
    const read = this.#read;
    this.#read = [];
    return read;
  }
}

const LINE_BREAK = /\r\n|\r|\n/;

/** One event on the wire. */
export function encodeSse(data: string, event?: string): string {
  const name = event === undefined ? "" : `event: ${event}\n`;
  if (!data.includes("\n") && !data.includes("\r")) return `${name}data: ${data}\n\n`;
  return `${name}${prefixLines("data: ", data)}\n`;
}

/** A comment on the wire. */
export function encodeSseComment(text: string): string {
  return `${prefixLines(": ", text)}\n`;
}

function prefixLines(prefix: string, text: string): string {
  return text
    .split(LINE_BREAK)
    .map((line) => `${prefix}${line}\n`)
    .join("");
}
