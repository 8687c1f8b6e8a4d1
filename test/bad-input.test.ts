import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RawRequest } from "../src/dialects/raw-request.ts";
import { StuntDouble } from "../src/index.ts";
import { Router } from "../src/server/router.ts";
import { dialects } from "../src/services/registry.ts";
import { errorMembers, errorShape } from "./support/error-shapes.ts";
import { bedrockPaths, fullBody } from "./support/full-bodies.ts";

const double = new StuntDouble({ fixtures: [{ match: { endpoint: "chat" }, response: { content: "Hi!" } }] });
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let conversation: string;
beforeAll(async () => {
  await double.start();
  conversation = JSON.parse((await send("/v1/conversations", "{}")).text).id;
});
afterAll(async () => {
  agent.destroy();
  await double.stop();
});

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Over a socket, which thousands of requests share. */
async function send(path: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Reply> {
  const url = double.url + path.replace("/conversations/x", `/conversations/${conversation}`);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { method: "POST", agent, headers }, resolve).on("error", reject).end(body);
  });
  return { status: response.statusCode!, headers: response.headers, text: await text(response) };
}

const DEEP = "[".repeat(10_000) + "]".repeat(10_000);
const NO_OBJECTS = ["", "null", "[]", "3", '{"model": "m", ', "\0\0\0", Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), DEEP];

type Tree = Record<string | number, unknown>;
type Place = (string | number)[];

function placesOf(value: unknown, at: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [at];
  const inner = Object.entries(value).flatMap(([key, member]) =>
    placesOf(member, [...at, Array.isArray(value) ? Number(key) : key]),
  );
  return at.length === 0 ? inner : [at, ...inner];
}

/** Undefined takes the member away. A place that another change has taken away is left. */
function set(root: Tree, place: Place, value: unknown): void {
  let node: unknown = root;
  for (const step of place.slice(0, -1)) node = (node as Tree | null | undefined)?.[step];
  if (typeof node === "object" && node !== null) (node as Tree)[place.at(-1)!] = structuredClone(value);
}

const router = new Router(dialects);

const nameAt = (path: string, body: object): string | undefined =>
  router.find(new RawRequest("POST", path, {}, Buffer.from(JSON.stringify(body))))?.operation.name;

interface Walked {
  name: string;
  paths: string[];
  body: object;
}

/** Every operation of the registry that a body is sent to, with the paths on which it is reached. */
const walked = dialects.flatMap(({ providers: [provider], operations }) =>
  operations.flatMap(({ name, routes }): Walked[] => {
    const body = fullBody(name);
    const paths = routes
      .filter(({ method }) => method === "POST")
      .flatMap(({ path }) => (path === "/model/*" ? bedrockPaths(name) : [path]))
      .map((path) => path.replace(/\/:\w+(\(.+\))?/g, "/x").replace("::", ":"))
      // Where others share the path, its segment says whose it is.
      .map((path) => (nameAt(path, body) === name ? path : `/${provider}${path}`));
    return paths.length === 0 ? [] : [{ name, paths, body }];
  }),
);

/** What can be wrong with a member: it is not there, of another kind, out of bounds, or a name that objects have. */
const wrong = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(
      ...[undefined, null, "", "x", "__proto__", true, [], {}, [null], [3], [{}]],
      ...[3, -1, 0.5, 1e99, { toString: 3 }, [{ toString: 3 }]],
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);

describe.each(walked)("$name", ({ name, paths, body }) => {
  const absent = /cancel$/.test(name);

  test("answers on each of its paths, whatever content type is said and whatever is accepted", async () => {
    for (const path of paths) {
      expect([path, nameAt(path, body)]).toEqual([path, name]);
      const plain = await send(path, JSON.stringify(body));
      expect([path, plain.status], plain.text).toEqual([path, absent ? 404 : 200]);
      const headers = { "content-type": "text/plain", accept: "text/event-stream" };
      const other = await send(path, JSON.stringify(body), headers);
      expect([path, other.status, other.headers["content-type"]]).toEqual([
        path,
        plain.status,
        plain.headers["content-type"],
      ]);
    }
  });

  test("refuses what is no JSON object, and one that is nested too deep", async () => {
    const tooDeep = `{"deep":${DEEP},${JSON.stringify(body).slice(1)}`;
    for (const sent of [...NO_OBJECTS, tooDeep]) {
      const reply = await send(paths[0]!, sent);
      if (sent === "" && /input-tokens|compact|conversations-(create|update)/.test(name)) {
        expect(reply.status, "all may be left out").toBe(200);
        continue;
      }
      expect(reply.status, String(sent).slice(0, 50)).toBe(absent ? 404 : 400);
      expect(errorMembers(reply)).toMatch(errorShape(name));
    }
  });

  test("takes anything in any place, or refuses it in its provider's words", async () => {
    const places = placesOf(body);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        fc.uniqueArray(fc.tuple(fc.constantFrom(...places), wrong), { minLength: 1, maxLength: 2 }),
        async (path, changes) => {
          const changed = structuredClone(body) as Tree;
          for (const [place, value] of changes) set(changed, place, value);
          const reply = await send(path, JSON.stringify(changed));
          if (reply.status === 200) return;
          expect([400, 404], reply.text).toContain(reply.status);
          expect(errorMembers(reply)).toMatch(errorShape(name));
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("a value that no text can be made of is refused where it stands", () => {
  const odd = { toString: 3 };
  const role = { model: "m", input: [{ role: odd, content: "x" }] };

  test.each<[string, object, string]>([
    ...["", "/input_tokens", "/compact"].map((end): [string, object, string] => [
      `/v1/responses${end}`,
      role,
      "Invalid type for 'input[0].role': expected a string, but got an object instead.",
    ]),
    ["/api/v1/responses", role, "Invalid type for 'input[0].role': expected a string, but got an object instead."],
    [
      "/v1/conversations",
      { items: role.input },
      "Invalid type for 'items[0].role': expected a string, but got an object instead.",
    ],
    [
      "/v1/embeddings",
      { model: "m", input: [[odd]] },
      "Invalid type for 'input[0]': expected a string or an array of tokens, but got an array instead.",
    ],
    [
      "/model/amazon.titan-embed-text-v2:0/invoke",
      { inputText: "x", embeddingTypes: [odd] },
      "embeddingTypes.1.member: expected a string, but it is an object.",
    ],
    [
      "/model/amazon.nova-pro-v1:0/converse",
      { messages: [{ role: "user", content: [{ text: "x" }] }], additionalModelResponseFieldPaths: [odd] },
      "additionalModelResponseFieldPaths.1.member: expected a string, but it is an object.",
    ],
    [
      "/model/amazon.nova-pro-v1:0/converse",
      { messages: [{ role: "user", content: [{ citationsContent: { content: [{ text: odd }] } }] }] },
      "messages.1.member.content.1.member.citationsContent.content: expected a string, but it is an object.",
    ],
  ])("%s %j", async (path, body, message) => {
    const reply = await send(path, JSON.stringify(body));
    const told = JSON.parse(reply.text);
    expect([reply.status, told.message ?? told.error.message]).toEqual([400, message]);
  });
});

/** Each place in which data is sent as base64. */
const CARRIERS: [string, (data: string) => object][] = [
  ...[
    { type: "image_url", image_url: { url: "data:image/png;base64,§" } },
    { type: "input_audio", input_audio: { data: "§", format: "wav" } },
    { type: "file", file: { file_data: "§", filename: "a.pdf" } },
    { type: "file", file: { file_data: "data:application/pdf;base64,§", filename: "a.pdf" } },
  ].flatMap((part) =>
    ["/v1/chat/completions", "/api/v1/chat/completions"].map((path) =>
      carrier(path, { model: "m", messages: [{ role: "user", content: [part] }] }),
    ),
  ),
  ...[
    { type: "input_image", image_url: "data:image/png;base64,§" },
    { type: "input_audio", input_audio: { data: "§", format: "wav" } },
    { type: "input_file", file_data: "§", filename: "a.pdf" },
  ].map((part) => carrier("/v1/responses", { model: "m", input: [{ role: "user", content: [part] }] })),
  ...["image", "document"].flatMap((type) => {
    const block = { type, source: { type: "base64", media_type: "x/y", data: "§" } };
    const result = { type: "tool_result", tool_use_id: "1", content: [block] };
    return [block, result].map((content) =>
      carrier("/v1/messages", { model: "m", max_tokens: 5, messages: [{ role: "user", content: [content] }] }),
    );
  }),
  carrier("/v1beta/models/m:generateContent", {
    contents: [{ role: "user", parts: [{ inlineData: { mimeType: "image/png", data: "§" } }] }],
  }),
  carrier("/v1beta/interactions", { model: "m", input: [{ type: "image", data: "§", mime_type: "image/png" }] }),
  carrier("/v2/chat", {
    model: "m",
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,§" } }] }],
  }),
  carrier("/v2/embed", { model: "m", input_type: "image", images: ["data:image/png;base64,§"] }),
  carrier("/v2/embed", {
    model: "m",
    input_type: "image",
    inputs: [{ content: [{ type: "image_url", image_url: { url: "data:image/png;base64,§" } }] }],
  }),
];

function carrier(path: string, body: object): [string, (data: string) => object] {
  return [path, (data) => JSON.parse(JSON.stringify(body).replace("§", data))];
}

describe("data that is to be base64", () => {
  test.each(CARRIERS)("%s: is refused for a character that is of neither alphabet", async (path, body) => {
    const reply = await send(path, JSON.stringify(body("aGk%")));
    expect([reply.status, /base64/i.test(reply.text)], reply.text).toEqual([400, true]);
  });

  test.each(CARRIERS)("%s: may be of any length, without padding, of either alphabet, in lines", async (path, body) => {
    for (const data of ["abc", "a-_+/", "aGk=", "aGk\\naGk"]) {
      const reply = await send(path, JSON.stringify(body(data)));
      expect([data, reply.status], reply.text).toEqual([data, 200]);
    }
  });

  // Theirs are decoders that keep to the letter: Go's, and AWS's.
  test.each([
    carrier("/api/chat", { model: "m", messages: [{ role: "user", content: "x", images: ["§"] }] }),
    carrier("/model/amazon.nova-pro-v1:0/converse", {
      messages: [{ role: "user", content: [{ image: { format: "png", source: { bytes: "§" } } }] }],
    }),
  ])("%s: is padded, of one alphabet", async (path, body) => {
    const statuses = ["aGk=", "abc", "aG_=", "aGk%"].map(
      async (data) => (await send(path, JSON.stringify(body(data)))).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 400, 400, 400]);
  });
});

describe("a short request for too much is refused", () => {
  const post = (path: string, body: object): Promise<Reply> => send(path, JSON.stringify(body));
  const chat = { model: "m", messages: [{ role: "user", content: "x" }] };
  const completion = { model: "m", prompt: "x" };

  test.each([
    ["/v1/chat/completions", chat],
    ["/v1/completions", completion],
    ["/openai/deployments/d/completions", completion],
  ])("%s: n from 1 to 128", async (path, body) => {
    for (const n of [-1, 0, 0.5, 129, 30_000_000, 1e99]) {
      const reply = await post(path, { ...body, n });
      expect([reply.status, JSON.parse(reply.text).error.param], `n = ${n}`).toEqual([400, "n"]);
    }
    const most = await post(path, { ...body, n: 128 });
    expect(JSON.parse(most.text).choices.map(({ index }: { index: number }) => index)).toEqual([...Array(128).keys()]);
  });

  test("n is for each prompt", async () => {
    const prompts = (length: number) => ({ model: "m", prompt: Array(length).fill("x"), n: 128 });
    expect(JSON.parse((await post("/v1/completions", prompts(16))).text).choices).toHaveLength(2048);
    expect(await post("/v1/completions", prompts(17))).toMatchObject({
      status: 400,
      text: expect.stringContaining("expected at most 2048 choices for all prompts, but got 2176"),
    });
  });

  const part = { content: { parts: [{ text: "x" }] } };
  const embeddings: [string, (inputs: number, dimensions: number) => object][] = [
    ["/v1/embeddings", (inputs, dimensions) => ({ model: "m", input: Array(inputs).fill("x"), dimensions })],
    ["/openai/deployments/d/embeddings", (inputs, dimensions) => ({ input: Array(inputs).fill("x"), dimensions })],
    ["/api/embed", (inputs, dimensions) => ({ model: "m", input: Array(inputs).fill("x"), dimensions })],
    [
      "/v2/embed",
      (inputs, output_dimension) => ({
        model: "m",
        texts: Array(inputs).fill("x"),
        input_type: "search_query",
        output_dimension,
      }),
    ],
    [
      "/v1beta/models/g:batchEmbedContents",
      (inputs, outputDimensionality) => ({ requests: Array(inputs).fill({ ...part, outputDimensionality }) }),
    ],
    [
      "/v1/projects/p/locations/l/publishers/google/models/g:predict",
      (inputs, outputDimensionality) => ({
        instances: Array(inputs).fill({ content: "x" }),
        parameters: { outputDimensionality },
      }),
    ],
  ];

  test.each(embeddings)("%s: inputs and the length of their vectors", async (path, body) => {
    const refusal = async (inputs: number, dimensions: number) => {
      const reply = await post(path, body(inputs, dimensions));
      return [reply.status, reply.text.match(/\d+ inputs [^"]*/)?.[0]];
    };
    expect(await refusal(2049, 1)).toEqual([400, "2049 inputs are too many; send at most 2048 at once."]);
    expect(await refusal(97, 65_536)).toEqual([
      400,
      "97 inputs with vectors of 65536 numbers are too many; send at most 96 at once.",
    ]);
    expect((await post(path, body(2048, 1))).status).toBe(200);
  });
});
