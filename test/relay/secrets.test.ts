import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type FixtureResponse, StuntDouble } from "../../src/index.ts";
import { type ProviderCall, providerCalls } from "../support/provider-calls.ts";
import { IN_CONTEXT, SECRETS, unfolded } from "../support/secrets.ts";
import { everyProvider, folder, provider, replaying } from "./support.ts";

/** A text with a secret in it, and what of it is nobody's business. */
interface Hidden {
  text: string;
  secret: string;
}

const secrets: Hidden[] = [
  ...Object.values(SECRETS).map((secret) => ({ text: `It is ${secret} there.`, secret })),
  ...Object.values(IN_CONTEXT).map(([text, secret]) => ({ text, secret })),
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
  "JSON in a string": ({ body }, text) => {
    body["metadata"] = { arguments: JSON.stringify({ note: text }) };
  },
  base64: ({ body }, text) => {
    body["metadata"] = { file: Buffer.from(text).toString("base64") };
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
  "an error": (message) => ({ error: { message, type: "invalid_request_error" }, status: 400 }),
  "an error in mid-stream": (message) => ({ content: "Fi", streamError: { message, status: 503 } }),
};

let response: FixtureResponse;
let chunkSize = 1;
let cuts: number[] = [];

/** Speaks in pieces as small as a character, cut again at any byte. */
async function startProvider(): Promise<string> {
  return provider(async (request, reply, body) => {
    const upstream = new StuntDouble({ seed: 1, chunkSize });
    upstream.on({}, response);
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

/** All that a folder holds, its names too. */
function written(path: string): string {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .map((entry) => entry.name + (entry.isFile() ? readFileSync(join(entry.parentPath, entry.name), "utf8") : ""))
    .join("\n");
}

it("a secret of any kind, anywhere, in any split and dialect, is nowhere in what is kept or shown (property)", {
  timeout: 300_000,
}, async () => {
  const url = await startProvider();
  const cell = fc.record({
    call: fc.constantFrom(...providerCalls),
    streamed: fc.boolean(),
    hidden: fc.constantFrom(...secrets),
    asked: fc.constantFrom(...Object.keys(ASKED)),
    inPrompt: fc.boolean(),
    answered: fc.constantFrom(...Object.keys(ANSWERED)),
    size: fc.integer({ min: 1, max: 30 }),
    at: fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 10 }),
  });
  await fc.assert(
    fc.asyncProperty(cell, async ({ call, streamed, hidden, asked, inPrompt, answered, size, at }) => {
      const { text, secret } = hidden;
      response = ANSWERED[answered]!(text);
      chunkSize = size;
      cuts = at;
      const sent = requestOf(call, inPrompt ? text : "hello", streamed);
      ASKED[asked]!(sent, text);
      const init = { method: "POST", body: JSON.stringify(sent.body), headers: sent.headers };
      const fixturePath = folder();
      const said: string[] = [];
      const onWarning = (message: string): void => void said.push(message);
      const onCall = (told: unknown): void => void said.push(JSON.stringify(told));
      const relay = new StuntDouble({
        record: { providers: everyProvider(url), fixturePath },
        redact,
        onWarning,
        onCall,
      });
      const live = await relay.fetch(sent.url, init);
      const liveText = await live.text();
      await relay.stop();
      const replay = replaying(fixturePath, { repeat: "miss", redact, onWarning, onCall });
      const again = await replay.fetch(sent.url, init);
      const replayed = await again.text();
      expect(again.status, replayed).toBe(live.status);
      // What the client has is the provider's own; what is kept of it is not.
      expect(liveText.includes("«")).toBe(false);
      const shown = await (await replay.fetch("http://double/__stuntdouble/journal")).text();
      const kept = { written: written(fixturePath), said: said.join("\n"), replayed, shown };
      const journal = { relay: JSON.stringify(relay.calls()), replay: JSON.stringify(replay.calls()) };
      for (const [place, all] of Object.entries({ ...kept, ...journal })) {
        expect(unfolded(all).includes(secret), `${place}: ${all}`).toBe(false);
      }
    }),
    { numRuns: Number(process.env["STUNTDOUBLE_RUNS"] ?? 300) },
  );
});

function requestOf({ path, body, headers = {} }: ProviderCall, prompt: string, streamed: boolean): Sent {
  return {
    url: `http://double${path(streamed)}`,
    body: { ...body(prompt, streamed) },
    headers: { "content-type": "application/json", ...headers },
  };
}
