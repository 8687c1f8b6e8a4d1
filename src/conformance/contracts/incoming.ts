import { memberText } from "../../wire/json-rpc.ts";

type Member = Record<string, unknown>;

export const ANSWER = "an answer";

/** What is wrong with a request; `ANSWER` for what answers us, and undefined for a right one. */
export function invalidRequest(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "it is no object";
  const { jsonrpc, method, params, id } = value as Member;
  if (method === undefined && ("result" in value || "error" in value)) return ANSWER;
  if (jsonrpc !== "2.0") return '"jsonrpc" is not "2.0"';
  if (typeof method !== "string") return '"method" is no string';
  if (params !== undefined && (typeof params !== "object" || params === null)) return '"params" is no object or array';
  if (id !== undefined && id !== null && typeof id !== "string" && typeof id !== "number")
    return '"id" is no string, number or null';
  return undefined;
}

/** The id as it was written; undefined where there is none that could be given back. */
export function idOf(value: unknown, text: string): string | undefined {
  const id = (value as Member | null)?.["id"];
  // Most ids are written the one way that there is for them; looking into the text costs a second pass.
  if (typeof id === "number" && Number.isSafeInteger(id)) {
    const at = text.indexOf(`"id":${id}`);
    const next = text[at + 5 + String(id).length];
    // Params may hold an id, too, which is written otherwise.
    if (at >= 0 && (next === "," || next === "}") && text.indexOf('"id"') === text.lastIndexOf('"id"'))
      return String(id);
  }
  if (id !== null && typeof id !== "string" && typeof id !== "number") return undefined;
  return memberText(text, "id");
}
