import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { stringify } from "yaml";
import { convert } from "../../src/cli/run-convert.ts";
import { createRedactor, withoutNumbers } from "../../src/guard/redact.ts";
import { StuntDouble } from "../../src/index.ts";
import { providers } from "../../src/upstream/providers.ts";

interface Interaction {
  request: { method: string; path: string; body?: unknown };
  response: { status: number; content_type?: string; body?: unknown };
}

/** Real recordings in the forms in which VCR.py and browsers keep theirs. `npm run test:wild` says where they are. */
const root = process.env["STUNTDOUBLE_WILD"];
if (root === undefined)
  throw new Error("STUNTDOUBLE_WILD must name the folder of the recordings; npm run test:wild sets it.");

const files = readdirSync(join(root, "http"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
  .map((entry) => join(entry.parentPath, entry.name))
  .sort();
const redactor = await createRedactor();

const FORMS = {
  vcrpy: (provider: string, interactions: Interaction[]): string =>
    stringify(
      {
        version: 1,
        interactions: interactions.map(({ request, response }, index) => {
          // VCR.py keeps what came over the wire, unless it is told to decompress it.
          const compressed = index % 2 === 1;
          const body = bytesOf(response.body);
          return {
            request: {
              method: request.method,
              uri: urlOf(provider, request.path),
              body: textOf(request.body),
              headers: { "content-type": ["application/json"] },
            },
            response: {
              status: { code: response.status, message: "" },
              headers: {
                ...(response.content_type && { "Content-Type": [response.content_type] }),
                ...(compressed && { "Content-Encoding": ["gzip"] }),
              },
              body: { string: compressed ? gzipSync(body) : isText(response.body) ? body.toString() : body },
            },
          };
        }),
      },
      { customTags: ["binary"], lineWidth: 0 },
    ),
  har: (provider: string, interactions: Interaction[]): string =>
    JSON.stringify({
      log: {
        version: "1.2",
        creator: { name: "test", version: "1" },
        entries: interactions.map(({ request, response }) => {
          const text = isText(response.body);
          return {
            startedDateTime: "2026-01-02T03:04:05.000Z",
            time: 3,
            timings: { send: 0, wait: 2, receive: 1 },
            request: {
              method: request.method,
              url: urlOf(provider, request.path),
              headers: [],
              ...(request.body !== undefined && request.body !== null && { postData: { text: textOf(request.body) } }),
            },
            response: {
              status: response.status,
              headers: [],
              content: {
                mimeType: response.content_type ?? "",
                text: bytesOf(response.body).toString(text ? "utf8" : "base64"),
                ...(!text && { encoding: "base64" }),
              },
            },
          };
        }),
      },
    }),
};

describe.each(Object.entries(FORMS))("%s", (tool, form) => {
  test.each(files.map((file) => [file.slice(root.length + 1), file]))("%s is replayed", async (_, file) => {
    const { provider, interactions } = JSON.parse(readFileSync(file, "utf8"));
    const folder = mkdtempSync(join(tmpdir(), "stuntdouble-wild-convert-"));
    try {
      const [from, to] = [join(folder, "in.json"), join(folder, "out.json")];
      writeFileSync(from, form(provider, interactions));
      vi.spyOn(process.stdout, "write").mockReturnValue(true);
      expect(await convert(tool as "har", from, to)).toBe(0);
      vi.restoreAllMocks();
      const double = new StuntDouble({ replaySpeed: 1000, repeat: "miss" }).load(to);
      expect(double.fixtures).toHaveLength(interactions.length);
      for (const [index, { request, response }] of (interactions as Interaction[]).entries()) {
        const text = textOf(request.body);
        const replayed = await double.fetch(`http://double${askedPath(provider, request.path)}`, {
          method: request.method,
          ...(text !== "" && { headers: { "content-type": "application/json" }, body: text }),
        });
        expect(replayed.status, `replayed ${index}`).toBe(response.status);
        const bytes = Buffer.from(await replayed.arrayBuffer());
        const original = redacted(bytesOf(response.body), response.content_type ?? "");
        if (!isText(response.body)) expect(bytes.equals(original), `replayed ${index}`).toBe(true);
        else expect(withoutNumbers(bytes.toString())).toBe(withoutNumbers(original.toString()));
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test("there are recordings", () => {
  expect(files.length).toBeGreaterThan(100);
});

function urlOf(provider: string, path: string): string {
  const name = provider === "vertex" ? "vertexai" : provider;
  // The recorded paths are whole: what follows a provider's host in its base URL is in them already.
  const { origin } = new URL(providers[name]?.url ?? "https://example.com");
  return `${origin}${path.startsWith("/") ? path : `/${path}`}`;
}

/** Groq's own path begins like a segment for OpenAI, so that its clients need one for Groq. */
function askedPath(provider: string, path: string): string {
  const whole = path.startsWith("/") ? path : `/${path}`;
  return provider === "groq" ? `/groq${whole}` : whole;
}

function textOf(body: unknown): string {
  if (body === undefined || body === null) return "";
  return typeof body === "string" ? body : JSON.stringify(body);
}

function isText(body: unknown): boolean {
  return typeof (body as { base64?: unknown } | null | undefined)?.base64 !== "string";
}

function bytesOf(body: unknown): Buffer {
  return isText(body) ? Buffer.from(textOf(body)) : Buffer.from((body as { base64: string }).base64, "base64");
}

function redacted(bytes: Buffer, type: string): Buffer {
  const redaction = redactor.match();
  const stream = /event-stream|ndjson/.test(type);
  return Buffer.from(
    stream ? redaction.chunks([bytes], type, "body")[0]! : redaction.body(bytes, type || undefined, "body"),
  );
}
