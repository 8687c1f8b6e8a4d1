import { isObject, RawRequest } from "../dialects/raw-request.ts";
import { childrenAt, memberAt, rootSpan } from "../wire/json-text.ts";

const MARK = Buffer.from('"vcr_');
const HEADERS: Readonly<Record<string, string>> = {
  vcr_scenario: "x-vcr-scenario",
  vcr_invoker: "x-vcr-invoker",
  vcr_filename: "x-vcr-filename",
};

/**
 * A request whose body says in `metadata.vcr_…` which cassette it belongs to, with that said in headers instead: the
 * provider must not see it, and it says nothing of the call itself. All other bytes of the body stay as they are. A
 * header that is there wins.
 */
export function withoutMetadata(raw: RawRequest): RawRequest {
  if (!Buffer.from(raw.body.buffer, raw.body.byteOffset, raw.body.byteLength).includes(MARK)) return raw;
  let body: unknown;
  try {
    body = raw.json;
  } catch {
    return raw;
  }
  const metadata = isObject(body) ? body["metadata"] : undefined;
  if (!isObject(metadata)) return raw;
  const names = Object.keys(metadata).filter((name) => name.startsWith("vcr_"));
  if (names.length === 0) return raw;
  const headers: Record<string, string | string[] | undefined> = {};
  for (const name of names) {
    const header = HEADERS[name];
    if (header !== undefined && metadata[name] !== null) headers[header] = encodeURIComponent(String(metadata[name]));
  }
  const text = withoutMembers(raw.text, names.length === Object.keys(metadata).length ? ["metadata"] : names);
  return new RawRequest(raw.method, raw.url, { ...headers, ...raw.headers }, Buffer.from(text));
}

/** The text of a body without members of its metadata, or without the metadata. */
function withoutMembers(text: string, names: readonly string[]): string {
  const root = rootSpan(text).start;
  if (names[0] === "metadata") return withoutMember(text, root, "metadata");
  let result = text;
  for (const name of names) {
    result = withoutMember(result, memberAt(result, root, "metadata")!.start, name);
  }
  return result;
}

function withoutMember(text: string, object: number, name: string): string {
  const children = childrenAt(text, object);
  const index = children.findIndex(({ key }) => key === name);
  const child = children[index];
  if (child === undefined) return text;
  const before = children[index - 1];
  // With the comma before it, or as the first one with the comma after it.
  if (before !== undefined) return text.slice(0, before.end) + text.slice(child.end);
  const comma = /^\s*,/.exec(text.slice(child.end))?.[0].length ?? 0;
  return text.slice(0, object + 1) + text.slice(child.end + comma);
}
