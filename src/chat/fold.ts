import type { Frame } from "./frames.ts";
import type { ChatReply, Choice, Envelope, Part, Usage } from "./reply.ts";

/** Puts frames together to the reply that they are pieces of. */
export class Fold {
  readonly #choices = new Map<number, Choice>();
  #usage: Usage | undefined;
  #envelope: Envelope | undefined;

  apply({ choice, part, event }: Frame): void {
    switch (event.type) {
      case "start":
        this.#choice(choice).parts[part] = { ...event.part };
        break;
      case "delta": {
        const fields = this.#fields(choice, part);
        const before = fields?.[event.field];
        if (fields !== undefined) {
          fields[event.field] =
            event.at === undefined ? grown(before, event.value) : grownAt(before, event.at, event.value);
        }
        break;
      }
      case "set": {
        const fields = this.#fields(choice, part);
        if (fields !== undefined) fields[event.field] = event.value;
        break;
      }
      case "finish": {
        const folded = this.#choice(choice);
        folded.finish = event.finish;
        if (event.native !== undefined) folded.native = event.native;
        break;
      }
      case "usage":
        this.#usage = event.usage;
        break;
      case "envelope":
        this.#envelope = event.envelope;
        break;
      case "stop":
      case "error":
      case "keepalive":
        break;
    }
  }

  part(choice: number, part: number): Part | undefined {
    return this.#choices.get(choice)?.parts[part];
  }

  choice(choice: number): Choice | undefined {
    return this.#choices.get(choice);
  }

  get reply(): ChatReply {
    const numbers = [...this.#choices.keys()].sort((one, other) => one - other);
    const reply: ChatReply = { choices: numbers.map((number) => this.#choices.get(number)!) };
    if (this.#usage !== undefined) reply.usage = this.#usage;
    if (this.#envelope !== undefined) reply.envelope = this.#envelope;
    return reply;
  }

  #choice(number: number): Choice {
    let choice = this.#choices.get(number);
    if (choice === undefined) {
      choice = { parts: [], finish: { reason: "stop" } };
      this.#choices.set(number, choice);
    }
    return choice;
  }

  #fields(choice: number, part: number): Record<string, unknown> | undefined {
    return this.part(choice, part) as Record<string, unknown> | undefined;
  }
}

function grown(before: unknown, value: string): string {
  return (typeof before === "string" ? before : "") + value;
}

/** A number far beyond the list's end, which a broken recording may hold, is that of the next text. */
function grownAt(before: unknown, at: number, value: string): string[] {
  const texts = Array.isArray(before) ? [...before] : [];
  const index = Math.min(at, texts.length);
  texts[index] = grown(texts[index], value);
  return texts;
}

/** The reply that frames are pieces of. */
export function foldFrames(frames: Iterable<Frame>): ChatReply {
  const fold = new Fold();
  for (const frame of frames) fold.apply(frame);
  return fold.reply;
}
