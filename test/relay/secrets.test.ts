import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type FixtureResponse, StuntDouble, type StuntDoubleOptions } from "../../src/index.ts";
import { providerNames } from "../../src/upstream/providers.ts";
import { type ProviderCall, providerCalls } from "../support/provider-calls.ts";
import { IN_CONTEXT, SECRETS, unfolded } from "../support/secrets.ts";
import { everyProvider, folder, onCleanup, provider, replaying } from "./support.ts";

/** A text with a secret in it, and what of it is nobody's business. */
interface Hidden {
  text: string;
  secret: string;
}

const secrets: Hidden[] = [
  ...Object.values(SECRETS).map((secret) => ({ text: `It is ${secret} there.`, secret })),
  ...Object.values(IN_CONTEXT).map(([text, secret]) => ({ text, secret })),
];
/** What is sent as a key, with a form of its own or without. */
const credentials = [
  ...["openai-key", "anthropic-key", "google-key", "jwt"].map((name) => SECRETS[name]!),
  ...[`zQ7my${"super"}secret42xyz`, `open/${"sesame"}+"42"==`, "abcdefghijklmnopqrstuvwx"],
];
const redact = { detectors: { "ip-address": true, "host-name": true } };

interface Sent {
  url: string;
  body: Record<string, unknown>;
  headers: Record<string, string>;
}

/** Where in a request something can stand. */
const ASKED: Record<string, (sent: Sent, text: string) => void> = {
  nowhere: () => {},
  header: ({ headers }, text) => {
    headers["x-note"] = text.replaceAll("\n", " ");
  },
  query: (sent, text) => {
    sent.url += `${sent.url.includes("?") ? "&" : "?"}note=${encodeURIComponent(text)}`;
  },
  "test id": ({ headers }, text) => {
    headers["x-test-id"] = text.replaceAll("\n", " ");
  },
  member: ({ body }, text) => {
    body["metadata"] = { list: [{ note: text }] };
  },
  key: ({ body }, text) => {
    body["metadata"] = { [text]: "x" };
  },
  model: (sent, text) => {
    sent.body["model"] = text;
    sent.url = sent.url.replace(
      /\/(?:models?|deployments)\/[^/:?]+/,
      (named) => named + encodeURIComponent(` ${text} `),
    );
  },
  "field that must stay whole": ({ body }, text) => {
    body["metadata"] = { list: [{ signature: text }] };
  },
  "JSON in a string": ({ body }, text) => {
    body["metadata"] = { arguments: JSON.stringify({ note: text }) };
  },
  base64: ({ body }, text) => {
    body["metadata"] = { file: Buffer.from(text).toString("base64") };
  },
};

/** Where in a request a key can stand; one that is in none is put in on its way. */
const CARRIED: Record<string, (sent: Sent, key: string) => void> = {
  nowhere: () => {},
  bearer: ({ headers }, key) => {
    headers["authorization"] = `Bearer ${key}`;
  },
  header: ({ headers }, key) => {
    headers["x-api-key"] = key;
  },
  "user and password": ({ headers }, key) => {
    headers["authorization"] = `Basic ${Buffer.from(`ada:${key}`).toString("base64")}`;
  },
  cookie: ({ headers }, key) => {
    headers["cookie"] = `a=b; sid=${key}`;
  },
  query: (sent, key) => {
    sent.url += `${sent.url.includes("?") ? "&" : "?"}key=${encodeURIComponent(key)}`;
  },
};

/** What a provider says, as a whole or bit by bit. */
const ANSWERED: Record<string, (text: string) => FixtureResponse> = {
  nothing: () => ({ content: "Fine." }),
  text: (content) => ({ content }),
  "a call's arguments": (note) => ({ toolCalls: [{ id: "call_1", name: "note", arguments: { note, more: 1 } }] }),
  "a call's broken arguments": (text) => ({
    toolCalls: [{ id: "call_1", name: "note", arguments: `{"note":"${text}` }],
  }),
  thoughts: (reasoning) => ({ reasoning, content: "Fine." }),
  "an error": (message) => ({ error: { message, type: "invalid_request_error" }, status: 401 }),
  "an error in mid-stream": (message) => ({ content: "Fi", streamError: { message, status: 503 } }),
};

/** One call, and all that is to be known of it. */
interface Cell {
  call: ProviderCall;
  streamed: boolean;
  hidden: Hidden;
  asked: string;
  inPrompt: boolean;
  carried: string;
  key: string;
  /** The prompt quotes the key. */
  quoted: boolean;
  answered: string;
  /** The answer quotes the key, in place of the text. */
  echoed: boolean;
  size: number;
  cuts: number[];
}

const cell: fc.Arbitrary<Cell> = fc.record({
  call: fc.constantFrom(...providerCalls),
  streamed: fc.boolean(),
  hidden: fc.constantFrom(...secrets),
  asked: fc.constantFrom(...Object.keys(ASKED)),
  inPrompt: fc.boolean(),
  carried: fc.constantFrom(...Object.keys(CARRIED)),
  key: fc.constantFrom(...credentials),
  quoted: fc.boolean(),
  answered: fc.constantFrom(...Object.keys(ANSWERED)),
  echoed: fc.boolean(),
  size: fc.integer({ min: 1, max: 30 }),
  cuts: fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 10 }),
});

/** So many calls share their doubles, which take longer to come and go than a call. */
const AT_ONCE = 10;
let cells: readonly Cell[] = [];

/** Speaks in pieces as small as a character, cut again at any byte. */
async function startProvider(): Promise<string> {
  return provider(async (request, reply, body) => {
    const { hidden, carried, key, answered, echoed, size, cuts } = cells[Number(request.headers["x-cell"])]!;
    const text = echoed ? `Incorrect key provided: ${carried === "nowhere" ? injectedIn(request) : key}.` : hidden.text;
    const upstream = new StuntDouble({ seed: 1, chunkSize: size });
    upstream.on({}, ANSWERED[answered]!(text));
    const answer = await upstream.fetch(`http://upstream${request.url}`, { method: "POST", body });
    const bytes = Buffer.from(await answer.arrayBuffer());
    reply.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    let from = 0;
    for (const length of cuts) {
      if (from >= bytes.length) break;
      await new Promise<void>((done) => reply.write(bytes.subarray(from, from + length), () => done()));
      from += length;
    }
    reply.end(bytes.subarray(from));
  });
}

/** The key that the relay has put in. */
function injectedIn({ headers }: IncomingMessage): string {
  const { authorization, "x-api-key": anthropic, "x-goog-api-key": google, "api-key": azure } = headers;
  return String(authorization?.replace("Bearer ", "") ?? anthropic ?? google ?? azure);
}

/** All that a folder holds, its names too. */
function written(path: string): string {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .map((entry) => entry.name + (entry.isFile() ? readFileSync(join(entry.parentPath, entry.name), "utf8") : ""))
    .join("\n");
}

/** What every provider's key in the environment is, until the end of the test. */
function setKeys(key: string): void {
  for (const name of providerNames) process.env[`STUNTDOUBLE_PROVIDER_${name.toUpperCase()}_KEY`] = key;
}

interface Kind {
  recording(folder: string, url: string): StuntDoubleOptions;
  replaying(folder: string, options: StuntDoubleOptions): StuntDouble;
  /** Places of a secret where nothing can stand in for it: then nothing is written. */
  refused: readonly string[];
}

const kinds: Record<string, Kind> = {
  fixtures: {
    recording: (fixturePath, url) => ({ record: { providers: everyProvider(url), fixturePath } }),
    replaying: (path, options) => replaying(path, { repeat: "miss", ...options }),
    refused: ["field that must stay whole"],
  },
  cassettes: {
    recording: (path, url) => ({
      record: { providers: everyProvider(url) },
      cassettes: { mode: "record", folder: path },
    }),
    replaying: (path, options) =>
      new StuntDouble({ cassettes: { mode: "replay", folder: path, mayBeIdle: true }, ...options }),
    refused: ["field that must stay whole", "test id"],
  },
};

it.each(Object.keys(kinds))(
  "a secret of any kind, anywhere, in any split and dialect, is nowhere in what is kept or shown: %s (property)",
  {
    timeout: 300_000,
  },
  async (kind) => {
    const { recording, replaying, refused } = kinds[kind]!;
    const url = await startProvider();
    onCleanup(() => {
      for (const name of providerNames) delete process.env[`STUNTDOUBLE_PROVIDER_${name.toUpperCase()}_KEY`];
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...credentials),
        fc.array(cell, { minLength: AT_ONCE, maxLength: AT_ONCE }),
        async (injected, asked) => {
          setKeys(injected);
          cells = asked;
          const sent = asked.map(requestOf);
          const path = folder();
          const said: string[] = [];
          const onWarning = (message: string): void => void said.push(message);
          const onCall = (told: unknown): void => void said.push(JSON.stringify(told));
          const relay = new StuntDouble({ ...recording(path, url), redact, onWarning, onCall });
          const live = await Promise.all(sent.map(async (one) => read(await relay.fetch(...one))));
          // What the client has is the provider's own; what is kept of it is not.
          expect(live.filter(({ text }) => text.includes("«"))).toEqual([]);
          await relay.stop().catch((error: Error) => said.push(error.message));
          const kept = asked.map(({ asked: place }) => !refused.includes(place));
          expect(said.filter((message) => / could not be written: /.test(message))).toHaveLength(
            kept.filter((is) => !is).length + (kept.every((is) => is) ? 0 : 1),
          );
          const replay = replaying(path, { redact, onWarning, onCall });
          const again = await Promise.all(
            sent.map(async (one, index) => (kept[index] ? read(await replay.fetch(...one)) : undefined)),
          );
          for (const [index, reply] of again.entries()) {
            if (reply !== undefined) expect(reply.status, reply.text).toBe(live[index]!.status);
          }
          const shown = await (await replay.fetch("http://double/__stuntdouble/journal")).text();
          await replay.stop();
          const replayed = again.map((reply) => reply?.text).join("\n");
          const journal = { relay: JSON.stringify(relay.calls()), replay: JSON.stringify(replay.calls()) };
          const secret = new Set([injected, ...asked.flatMap(({ key, hidden }) => [key, hidden.secret])]);
          for (const [place, all] of Object.entries({
            written: written(path),
            said: said.join("\n"),
            replayed,
            shown,
            ...journal,
          })) {
            const plain = unfolded(all);
            for (const one of secret) {
              const at = plain.indexOf(one);
              expect(at, `${place}: …${plain.slice(Math.max(0, at - 800), at + 200)}…`).toBe(-1);
            }
          }
        },
      ),
      {
        numRuns: Math.ceil(Number(process.env["STUNTDOUBLE_RUNS"] ?? 150) / AT_ONCE),
      },
    );
  },
);

async function read(response: Response): Promise<{ status: number; text: string }> {
  return { status: response.status, text: await response.text() };
}

function requestOf(
  { call, streamed, hidden, asked, inPrompt, carried, key, quoted }: Cell,
  index: number,
): [url: string, init: RequestInit] {
  const { path, body, headers = {} } = call;
  const prompt = (inPrompt ? hidden.text : "hello") + (quoted && carried !== "nowhere" ? ` Not ${key}.` : "");
  const sent: Sent = {
    url: `http://double${path(streamed)}`,
    body: { ...body(prompt, streamed), cell: index },
    headers: { "content-type": "application/json", "x-cell": String(index), ...headers },
  };
  ASKED[asked]!(sent, hidden.text);
  CARRIED[carried]!(sent, key);
  return [sent.url, { method: "POST", body: JSON.stringify(sent.body), headers: sent.headers }];
}
