import { FunctionCallingConfigMode, GoogleGenAI } from "@google/genai";
import { gemini } from "../../src/dialects/gemini/index.ts";
import type { Asked, Seen, Source, WildProvider } from "./provider.ts";
import { KEY_HEADER } from "./serve.ts";

type Json = Record<string, unknown>;

export const geminiRecordings: WildProvider = {
  name: "gemini-generate",
  operation: gemini.operations.find(({ name }) => name === "gemini-generate")!,
  claims: ({ path, messages }) => {
    if (path !== undefined) return /:(generateContent|streamGenerateContent)$/.test(path);
    const first = messages?.[0] as Json | undefined;
    return Array.isArray(first?.["candidates"]) && first["usageMetadata"] !== undefined;
  },
  asked,
  read,
  readEvents: read,
  added: [
    // Vertex AI leaves it out.
    "rest.candidates.*.index",
    "rest.candidates.*.role",
  ],
};

export function asked(body: Json, path: string): Asked {
  const contents = body["contents"] as { role?: string; parts: Json[] }[];
  const said = contents.flatMap(({ role, parts }) => {
    if (role === "model") return [];
    const after = parts.slice(parts.findLastIndex((part) => part["functionResponse"]) + 1);
    return after.length > 0 ? [textOf(after)] : [];
  });
  const tools = (body["tools"] ?? []) as { functionDeclarations?: { name: string }[] }[];
  return {
    model: /models\/([^:]+)/.exec(path)![1]!,
    lastUserText: said.at(-1),
    systemText: textOf(((body["systemInstruction"] as Json | undefined)?.["parts"] ?? []) as Json[]),
    toolNames: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
    // All of the recorded results name their calls.
    toolResults: contents
      .flatMap(({ parts }) => parts)
      .flatMap(({ functionResponse }) => {
        const { id, response } = (functionResponse ?? {}) as { id?: string; response?: unknown };
        return id === undefined ? [] : [[id, JSON.stringify(response)] as [string, string]];
      }),
  };
}

function textOf(parts: Json[]): string {
  return parts.map(({ text }) => text ?? "").join("");
}

function isVertex({ key }: Source): boolean {
  return key.includes("vertex");
}

export function clientOf(source: Source): GoogleGenAI {
  const httpOptions = { baseUrl: source.url, headers: { [KEY_HEADER]: source.key } };
  return new GoogleGenAI({ vertexai: isVertex(source), apiKey: "none", httpOptions });
}

/** The client accumulates nothing of a stream: its chunks are put together here. */
async function read(source: Source): Promise<Seen> {
  const { streamed } = source;
  const vertexai = isVertex(source);
  const client = clientOf(source);
  const calling = { mode: FunctionCallingConfigMode.AUTO, streamFunctionCallArguments: true };
  const request = {
    model: "any",
    contents: "any",
    // Arguments come in pieces on Vertex AI only.
    ...(vertexai && streamed && { config: { toolConfig: { functionCallingConfig: calling } } }),
  };
  if (!streamed) return seen([await client.models.generateContent(request)]);
  const chunks: unknown[] = [];
  for await (const chunk of await client.models.generateContentStream(request)) chunks.push(chunk);
  return seen(chunks);
}

interface Candidate {
  parts: Json[];
  rest: Json;
}

function seen(responses: unknown[]): Seen {
  let whole: Json = {};
  const candidates: Candidate[] = [];
  for (const { candidates: given, sdkHttpResponse: _, ...rest } of responses as Json[]) {
    whole = { ...whole, ...rest };
    for (const { content, ...candidate } of (given ?? []) as Json[]) {
      const { parts, role } = (content ?? {}) as { parts?: Json[]; role?: string };
      const at = (candidate["index"] as number | undefined) ?? 0;
      candidates[at] ??= { parts: [], rest: {} };
      Object.assign(candidates[at].rest, candidate, role !== undefined && { role });
      for (const part of parts ?? []) addPart(candidates[at].parts, part);
    }
  }
  const { usageMetadata: usage, ...rest } = whole;
  const each = <T>(take: (parts: Json[]) => T): T[] => candidates.map(({ parts }) => take(parts));
  return {
    text: each((parts) => textOf(parts.filter((part) => !part["thought"]))),
    reasoning: each((parts) => [
      textOf(parts.filter((part) => part["thought"])),
      ...parts.map(({ thoughtSignature }) => thoughtSignature ?? null),
    ]),
    toolCalls: each((parts) =>
      parts.flatMap(({ functionCall }) => (functionCall ? [callOf(functionCall as Json)] : [])),
    ),
    finish: [...candidates.map((candidate) => candidate.rest["finishReason"]), whole["promptFeedback"]],
    usage,
    rest: {
      ...rest,
      candidates: candidates.map(({ parts, rest: { finishReason: _, ...others } }) => ({
        ...others,
        parts: parts.map(({ functionCall, ...part }) => (functionCall ? "a call" : part)),
      })),
    },
  };
}

/** Pieces of a text, or of a call without a name, belong to the part before them. */
function addPart(parts: Json[], part: Json): void {
  const last = parts.at(-1);
  const call = part["functionCall"] as Json | undefined;
  if (call !== undefined && call["name"] === undefined) {
    const growing = last!["functionCall"] as Json;
    growing["pieces"] = [...((growing["pieces"] ?? []) as unknown[]), ...((call["partialArgs"] ?? []) as unknown[])];
  } else if (
    typeof part["text"] === "string" &&
    typeof last?.["text"] === "string" &&
    last["thought"] === part["thought"]
  ) {
    Object.assign(last, part, { text: last["text"] + part["text"] });
  } else if (part["text"] !== "" || Object.keys(part).length > 1) {
    parts.push({ ...part, ...(call && { functionCall: { ...call } }) });
  }
}

function callOf({ id, name, args, pieces }: Json): unknown[] {
  const built = { ...(args as Json | undefined) };
  for (const { jsonPath, stringValue, numberValue, boolValue } of (pieces ?? []) as Json[]) {
    const steps = (jsonPath as string).match(/\w+/g)!;
    let place: Json = built;
    steps.slice(0, -1).forEach((step, index) => {
      place[step] ??= /^\d+$/.test(steps[index + 1]!) ? [] : {};
      place = place[step] as Json;
    });
    const last = steps.at(-1)!;
    place[last] = stringValue === undefined ? (numberValue ?? boolValue) : `${place[last] ?? ""}${stringValue}`;
  }
  return [id, name, built];
}
