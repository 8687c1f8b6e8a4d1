import type { IncomingHttpHeaders } from "node:http";

/** The members of an error and of the object in it, numbers marked: what a provider's client looks for. */
export function errorMembers({ headers, text }: { headers: IncomingHttpHeaders; text: string }): string {
  const body: unknown = JSON.parse(text);
  // Gemini's streams that are none of server-sent events are lists.
  const error = Array.isArray(body) ? body[0] : body;
  return `${headers["x-amzn-errortype"] === undefined ? "" : "Exception "}${membersOf(error)}`;
}

function membersOf(object: object): string {
  return Object.entries(object)
    .map(([name, value]) => {
      if (typeof value === "number") return `${name}#`;
      return typeof value === "object" && value !== null && !Array.isArray(value)
        ? `${name}(${membersOf(value)})`
        : name;
    })
    .join();
}

/** How each provider's errors look, by the name of a dialect or of its operation; the first that fits. */
const SHAPES: [RegExp, RegExp][] = [
  [/^(vertex-)?anthropic/, /^type,error\(type,message(,details\(error_code\))?\),request_id$/],
  [/^bedrock/, /^Exception message$/],
  [/^gemini-interactions/, /^error\(message,code\)$/],
  [/^gemini/, /^error\(code#,message,status(,details)?\)$/],
  [/^ollama(?!-openai)/, /^error$/],
  [/^cohere/, /^id,message$/],
  [/^openrouter/, /^error\(message,code#\)$/],
  [/^mistral/, /^object,message,type,param,code$/],
  [/^perplexity/, /^error\(message,type,param,code#?\)$/],
  [/^cerebras/, /^message,type,param,code$/],
  [/^xai/, /^code,error$/],
  [/^zai/, /^error\(code,message\)$/],
  // The gateway says less than what is behind it.
  [/^azure/, /^error\((code,message|message,type,param,code)\)$/],
  [/^/, /^error\(message,type,param,code\)$/],
];

/** A pattern of the members. */
export function errorShape(name: string): RegExp {
  return SHAPES.find(([names]) => names.test(name))![1];
}
