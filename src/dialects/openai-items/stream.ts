import type { WireEvent } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

/** Events with their numbers. */
export class EventList {
  readonly events: WireEvent[] = [];
  readonly pieces: (text: string) => string[];

  constructor(pieces: (text: string) => string[]) {
    this.pieces = pieces;
  }

  send(type: string, members: JsonObject): void {
    this.events.push({ event: type, data: { type, sequence_number: this.events.length, ...members } });
  }

  /** A text in pieces, and then once more whole. */
  text(type: string, name: string, text: string, place: JsonObject, more: JsonObject = {}): void {
    for (const delta of this.pieces(text)) this.send(`${type}.delta`, { ...place, delta, ...more });
    this.send(`${type}.done`, { ...place, [name]: text, ...more });
  }
}

/** An item as it begins, grows and ends. */
export function streamItem(item: JsonObject, index: number, stream: EventList): void {
  const place = { output_index: index, item_id: item["id"] };
  const type = String(item["type"]);
  const { empty, text, name, before = [], after = [] }: Growth = Object.hasOwn(GROWTH, type) ? GROWTH[type]! : {};
  stream.send("response.output_item.added", {
    output_index: index,
    item: { ...item, ...("status" in item && { status: "in_progress" }), ...empty },
  });
  for (const state of before) stream.send(`response.${type}.${state}`, place);
  if (text !== undefined && name !== undefined) {
    const whole = item[name];
    if (typeof whole === "string") stream.text(`response.${text}`, name, whole, place);
  }
  streamInside(item, place, stream);
  for (const state of after) stream.send(`response.${type}.${state === "ended" ? endOf(item) : state}`, place);
  stream.send("response.output_item.done", { output_index: index, item });
}

interface Growth {
  /** Members that are not known when the item begins. */
  empty?: JsonObject;
  /** The event and the member of a text that comes in pieces. */
  text?: string;
  name?: string;
  /** States that are told before it and after it. */
  before?: string[];
  after?: string[];
}

const SEARCH: Growth = { empty: { action: undefined }, before: ["in_progress", "searching", "completed"] };

/** How items grow. Of any other kind it is told that they have begun and that they have ended. */
const GROWTH: Record<string, Growth> = {
  message: { empty: { content: [] } },
  reasoning: { empty: { summary: [] } },
  function_call: { empty: { arguments: "" }, text: "function_call_arguments", name: "arguments" },
  custom_tool_call: { empty: { input: "" }, text: "custom_tool_call_input", name: "input" },
  web_search_call: SEARCH,
  file_search_call: { ...SEARCH, empty: { results: null } },
  code_interpreter_call: {
    empty: { code: "", outputs: [] },
    before: ["in_progress"],
    text: "code_interpreter_call_code",
    name: "code",
    after: ["interpreting", "completed"],
  },
  image_generation_call: { empty: { result: null }, before: ["in_progress", "generating"], after: ["completed"] },
  mcp_list_tools: { empty: { tools: [] }, before: ["in_progress"], after: ["ended"] },
  mcp_call: {
    empty: { arguments: "", output: null },
    before: ["in_progress"],
    text: "mcp_call_arguments",
    name: "arguments",
    after: ["ended"],
  },
};

function endOf(item: JsonObject): string {
  return isObject(item["error"]) || typeof item["error"] === "string" ? "failed" : "completed";
}

function streamInside(item: JsonObject, place: JsonObject, stream: EventList): void {
  const parts = (name: string): JsonObject[] => {
    const list = item[name];
    return Array.isArray(list) ? list.filter(isObject) : [];
  };
  switch (item["type"]) {
    case "message":
      for (const [content_index, part] of parts("content").entries()) {
        streamPart(part, { ...place, content_index }, stream);
      }
      break;
    case "reasoning":
      for (const [summary_index, part] of parts("summary").entries()) {
        const here = { ...place, summary_index };
        stream.send("response.reasoning_summary_part.added", { ...here, part: { ...part, text: "" } });
        stream.text("response.reasoning_summary_text", "text", String(part["text"]), here);
        stream.send("response.reasoning_summary_part.done", { ...here, part });
      }
      for (const [content_index, part] of parts("content").entries()) {
        const here = { ...place, content_index };
        stream.send("response.content_part.added", { ...here, part: { ...part, text: "" } });
        stream.text("response.reasoning_text", "text", String(part["text"]), here);
        stream.send("response.content_part.done", { ...here, part });
      }
      break;
    case "shell_call": {
      const { action } = item;
      const commands = isObject(action) && Array.isArray(action["commands"]) ? action["commands"] : [];
      for (const [command_index, command] of commands.entries()) {
        const here = { output_index: place["output_index"], command_index };
        stream.send("response.shell_call_command.added", { ...here, command: "" });
        stream.text("response.shell_call_command", "command", String(command), here);
      }
      break;
    }
  }
}

function streamPart(part: JsonObject, place: JsonObject, stream: EventList): void {
  const added = (empty: JsonObject): void => {
    stream.send("response.content_part.added", { ...place, part: { ...part, ...empty } });
  };
  switch (part["type"]) {
    case "output_text": {
      added({ text: "", annotations: [], logprobs: [] });
      streamText(String(part["text"]), part["logprobs"] as unknown[], place, stream);
      for (const [annotation_index, annotation] of (part["annotations"] as unknown[]).entries()) {
        stream.send("response.output_text.annotation.added", { ...place, annotation_index, annotation });
      }
      stream.send("response.output_text.done", { ...place, text: part["text"], logprobs: part["logprobs"] });
      break;
    }
    case "refusal":
      added({ refusal: "" });
      stream.text("response.refusal", "refusal", String(part["refusal"]), place);
      break;
    default:
      added({});
  }
  stream.send("response.content_part.done", { ...place, part });
}

/** With log probabilities an event holds one token, as long as the tokens are the text. */
function streamText(text: string, logprobs: unknown[], place: JsonObject, stream: EventList): void {
  const tokens = logprobs.map((entry) => (isObject(entry) && typeof entry["token"] === "string" ? entry["token"] : ""));
  const each = logprobs.length > 0 && tokens.join("") === text;
  for (const [index, delta] of (each ? tokens : stream.pieces(text)).entries()) {
    stream.send("response.output_text.delta", { ...place, delta, logprobs: each ? [logprobs[index]] : [] });
  }
}
