import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  around,
  ENCODINGS,
  encoding,
  IN_CONTEXT,
  percent,
  SECRETS,
  unfolded,
  VARIANTS,
} from "../../test/support/secrets.ts";
import { AwsEventStreamParser, encodeAwsEvent } from "../wire/aws-event-stream.ts";
import { encodeSse } from "../wire/sse.ts";
import { DETECTORS } from "./detectors.ts";
import { WholeFieldError } from "./finding.ts";
import { createRedactor, type Redaction, withoutNumbers } from "./redact.ts";

function cut(text: string, places: readonly number[]): string[] {
  const borders = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [...borders, text.length].map((border, at) => text.slice(at === 0 ? 0 : borders[at - 1], border));
}
const cuts = fc.array(fc.nat(400), { minLength: 1, maxLength: 12 });

const redactor = await createRedactor();

describe("each detector", () => {
  for (const [name, text] of Object.entries(SECRETS)) {
    it(`${name} finds its kind`, () => {
      expect(redactor.call().text(`It is ${text} here`, "test")).toBe(`It is «${name}:1» here`);
    });
  }
  it.each(VARIANTS)("%s finds %s", (name, text) => {
    expect(redactor.call().text(`It is ${text} here`, "test")).toBe(`It is «${name}:1» here`);
  });
  it.each(["SSN: 078 05 1120", "his social security number is 078 05 1120", '{\\"ssn\\": \\"078051120\\"}'])(
    "national-id-us finds what is called so: %s",
    (text) => {
      expect(redactor.call().text(text, "test")).toBe(text.replace(/078.*1120/, "«national-id-us:1»"));
    },
  );
  for (const [name, [text, hidden]] of Object.entries(IN_CONTEXT)) {
    it(`${name} finds its kind by what stands around it`, async () => {
      const all = await createRedactor({ detectors: { "ip-address": true, "host-name": name === "host-name" } });
      const call = all.call();
      const redacted = call.text(text, "test");
      expect(redacted).not.toContain(hidden);
      expect(call.findings.map(({ detector }) => detector)).toContain(name);
    });
  }
  it("has a sample here", () => {
    const names = DETECTORS.map(({ name }) => name);
    expect(names.filter((name) => !(name in SECRETS) && !(name in IN_CONTEXT))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("what is no secret stays", () => {
  for (const text of [
    "The order 4111 1111 1111 1112 was sent at 12:30 on 2024-05-06, -0.4111111111111111 degrees.",
    "DE89 3704 0044 0532 0130 01 and 123-456-78901 are no numbers of anyone",
    // The first 22 characters of the one have an IBAN's checksum, as the other would in groups of four.
    "ids: de89370400440532013000a1 and de893704-0044-0532-0130-00, be68539007547034ab",
    "020 1234 567, 0207946 0958, 07700 9001234, 1.020 7946 0958, 01632.960001, 0000 000 0000",
    "078 05 1120 and 078051120 are numbers; the SSN of nobody is 000 05 1120, and 0.078051120 is small",
    'max_tokens: 1024, "token": "Hello", tokenizer = new Tokenizer()',
    "password = getPassword(); apiKey: process.env.API_KEY; task-management-for-everyone-2024",
    "Basic understanding of 1.2.3.4 and someone@localhost, a@b",
    "https://example.com/home/user and /Users/Shared/x",
    JSON.stringify({
      created: 1717171717,
      id: "chatcmpl-9XyZabcDEF",
      object: "chat.completion",
      system_fingerprint: "fp_44709d6fcb",
    }),
  ]) {
    it(text.slice(0, 40), () => {
      expect(redactor.call().text(text, "test")).toBe(text);
      expect(redactor.call().json(text, "test")).toBe(text);
    });
  }

  it("byte for byte, and the value is the same object", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(redactor.call().json(text, "test")).toBe(text);
        expect(redactor.call().body(Buffer.from(text), "application/json", "test").toString()).toBe(text);
      }),
    );
    const value = { messages: [{ role: "user", content: "Hello" }] };
    expect(redactor.call().value(value, "test")).toBe(value);
  });
});

describe("a secret is nowhere in what comes out", () => {
  it("in text, in any encoding; and redacting again changes nothing", () => {
    fc.assert(
      fc.property(around, encoding, encoding, ({ text, hidden }, inner, outer) => {
        const encoded = ENCODINGS[outer]!(
          inner.startsWith("base64") && outer.startsWith("base64") ? text : ENCODINGS[inner]!(text),
        );
        const call = redactor.call();
        const redacted = call.text(encoded, "test");
        expect(unfolded(redacted)).not.toContain(hidden);
        expect(JSON.stringify(call.findings)).not.toContain(hidden);
        expect(redactor.call().text(redacted, "test")).toBe(redacted);
      }),
      { numRuns: 600 },
    );
  });

  it("in a JSON document, in values and keys at any depth; it stays JSON, and all else stays", () => {
    fc.assert(
      fc.property(
        fc.array(around, { minLength: 1, maxLength: 3 }),
        encoding,
        fc.jsonValue({ maxDepth: 2 }),
        (secrets, how, other) => {
          const encoded = secrets.map(({ text }) => ENCODINGS[how]!(text));
          const document = JSON.stringify(
            { other, list: encoded, deep: { [encoded[0]!]: { text: encoded.at(-1) } } },
            null,
            1,
          );
          const call = redactor.call();
          const redacted = call.json(document, "test");
          for (const { hidden } of secrets) {
            expect(unfolded(redacted)).not.toContain(hidden);
            expect(unfolded(JSON.stringify(call.findings))).not.toContain(hidden);
          }
          expect(JSON.parse(redacted).other).toEqual(JSON.parse(document).other);
          expect(redactor.call().json(redacted, "test")).toBe(redacted);
          const value = redactor.call().value(JSON.parse(document), "test");
          expect(value).toEqual(JSON.parse(redacted));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("in the pieces of a channel, however they are cut", () => {
    fc.assert(
      fc.property(around, encoding, cuts, ({ text, hidden }, how, places) => {
        const encoded = ENCODINGS[how]!(text);
        const pieces = cut(encoded, places);
        const redacted = redactor.call().pieces(pieces, "test");
        expect(redacted).toHaveLength(pieces.length);
        expect(redacted.join("")).toBe(redactor.call().text(encoded, "test"));
        expect(unfolded(redacted.join(""))).not.toContain(hidden);
      }),
      { numRuns: 400 },
    );
  });

  const STREAMS: Readonly<
    Record<string, { event: (piece: string, channel: number) => unknown; read: (event: never) => [number, string] }>
  > = {
    "OpenAI's chat": {
      event: (content, index) => ({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        choices: [{ index, delta: { content } }],
      }),
      read: (event: { choices: [{ index: number; delta: { content: string } }] }) => [
        event.choices[0].index,
        event.choices[0].delta.content,
      ],
    },
    "OpenAI's tool calls": {
      event: (text, index) => ({
        choices: [{ index: 0, delta: { tool_calls: [{ index, function: { arguments: text } }] } }],
      }),
      read: (event: { choices: [{ delta: { tool_calls: [{ index: number; function: { arguments: string } }] } }] }) => {
        const call = event.choices[0].delta.tool_calls[0];
        return [call.index, call.function.arguments];
      },
    },
    "Anthropic's": {
      event: (text, index) => ({ type: "content_block_delta", index, delta: { type: "text_delta", text } }),
      read: (event: { index: number; delta: { text: string } }) => [event.index, event.delta.text],
    },
    "OpenAI's responses": {
      event: (delta, output_index) => ({
        type: "response.output_text.delta",
        output_index,
        item_id: `msg_${output_index}`,
        delta,
      }),
      read: (event: { output_index: number; delta: string }) => [event.output_index, event.delta],
    },
    "Gemini's": {
      event: (text, index) => ({ candidates: [{ index, content: { role: "model", parts: [{ text }] } }] }),
      read: (event: { candidates: [{ index: number; content: { parts: [{ text: string }] } }] }) => [
        event.candidates[0].index,
        event.candidates[0].content.parts[0].text,
      ],
    },
    "Bedrock's converse": {
      event: (text, contentBlockIndex) => ({ contentBlockIndex, delta: { text } }),
      read: (event: { contentBlockIndex: number; delta: { text: string } }) => [
        event.contentBlockIndex,
        event.delta.text,
      ],
    },
    "Bedrock's invoke": {
      event: (text, index) => ({
        bytes: Buffer.from(JSON.stringify({ type: "content_block_delta", index, delta: { text } })).toString("base64"),
      }),
      read: (event: { bytes: string }) => {
        const inner = JSON.parse(Buffer.from(event.bytes, "base64").toString());
        return [inner.index, inner.delta.text];
      },
    },
    "nobody's": {
      event: (chunk, index) => ({ stream: { output: { index, chunk } } }),
      read: (event: { stream: { output: { index: number; chunk: string } } }) => [
        event.stream.output.index,
        event.stream.output.chunk,
      ],
    },
  };
  for (const [name, { event, read }] of Object.entries(STREAMS)) {
    it(`in ${name} events, two texts between one another, framed and cut anywhere`, () => {
      fc.assert(
        fc.property(around, around, cuts, cuts, cuts, (left, right, leftCuts, rightCuts, byteCuts) => {
          const texts = [left, right].map(({ text }) => JSON.stringify({ text }));
          const [lefts, rights] = [cut(texts[0]!, leftCuts), cut(texts[1]!, rightCuts)];
          const events: unknown[] = [];
          for (let at = 0; at < Math.max(lefts.length, rights.length); at++) {
            if (at < lefts.length) events.push(event(lefts[at]!, 0));
            if (at < rights.length) events.push(event(rights[at]!, 1));
          }
          const payloads = events.map((one) => JSON.stringify(one));
          const redacted = redactor.call().events(payloads, "test");
          expect(redacted).toHaveLength(payloads.length);
          const joined = ["", ""];
          for (const payload of redacted) {
            const [channel, text] = read(JSON.parse(payload) as never);
            joined[channel] += text;
          }
          const call = redactor.call();
          expect(joined).toEqual(texts.map((text) => call.text(text, "test")));
          expect(unfolded(joined.join(" "))).not.toContain(left.hidden);
          expect(unfolded(joined.join(" "))).not.toContain(right.hidden);

          const sse = Buffer.from(`${payloads.map((payload) => encodeSse(payload)).join("")}data: [DONE]\n\n`);
          const borders = [...new Set(byteCuts.map((place) => (place * 7) % sse.length))].sort((a, b) => a - b);
          const chunks = [0, ...borders].map((from, at) => sse.subarray(from, borders[at] ?? sse.length));
          const after = redactor.call().chunks(chunks, "text/event-stream", "test");
          expect(after).toHaveLength(chunks.length);
          expect(Buffer.concat(after).toString()).toBe(
            `${redacted.map((payload) => encodeSse(payload)).join("")}data: [DONE]\n\n`,
          );
        }),
        { numRuns: 100 },
      );
    });
  }

  it("in lines of JSON, a JSON array and an AWS event stream", () => {
    const [before, after] = cut(SECRETS["email"]!, [9]) as [string, string];
    const events = [before, after, " ok"].map((text) => JSON.stringify({ message: { content: text } }));
    const expected = ["«email:1»", "", " ok"].map((text) => JSON.stringify({ message: { content: text } }));
    const lines = redactor.call().body(Buffer.from(events.join("\n")), "application/x-ndjson", "test");
    expect(Buffer.from(lines).toString()).toBe(expected.join("\n"));
    const array = redactor.call().body(Buffer.from(`[${events.join(",\r\n")}]`), "application/json", "test");
    expect(Buffer.from(array).toString()).toBe(`[${expected.join(",\r\n")}]`);
    const frames = events.map((payload) => encodeAwsEvent({ type: "contentBlockDelta", exception: false, payload }));
    const redacted = redactor.call().chunks(frames, "application/vnd.amazon.eventstream", "test");
    const parser = new AwsEventStreamParser();
    expect(redacted.flatMap((chunk) => parser.push(chunk)).map(({ payload }) => payload)).toEqual(expected);
  });

  it("in tokens with their probabilities, and what stands beside them", () => {
    const token = (text: string) => ({
      token: text,
      logprob: -0.5,
      bytes: [...Buffer.from(text)],
      top_logprobs: [{ token: text, logprob: -0.5 }],
    });
    const content = ["Write ", "ada@exam", "ple.com", " now"].map(token);
    const redacted = redactor.call().value({ choices: [{ logprobs: { content } }] }, "test");
    expect(redacted.choices[0]!.logprobs.content).toEqual([
      content[0],
      { token: "«email:1»", logprob: -0.5, bytes: null, top_logprobs: [] },
      { token: "", logprob: -0.5, bytes: null, top_logprobs: [] },
      content[3],
    ]);
  });

  it("in events that a provider numbers", () => {
    const events = ["ada@exam", "ple.com", " ok"].map((text, index) =>
      JSON.stringify({ index, token: { id: 7, text } }),
    );
    expect(
      redactor
        .call()
        .events(events, "test")
        .map((event) => JSON.parse(event).token.text),
    ).toEqual(["«email:1»", "", " ok"]);
  });

  it("in time that grows with the text, whatever the text", () => {
    const parts = [
      "sk-",
      "eyJ",
      "eyJ.eyJ",
      "-----BEGIN PRIVATE KEY-----",
      "a@",
      "@a.",
      "1 ",
      "4111 ",
      "+1 ",
      "\\",
      '\\"',
      "%41",
      "password:",
      "basic ",
      "bearer ",
      "://",
      "://a:",
      "DE89",
      "/home/",
      "QUFB",
      "«",
      "1.1.1.",
      "a-",
      "key-",
      "?key=",
      "cookie: a=",
      '{"a":',
      "[",
      "arn:aws:",
    ];
    for (const part of parts) {
      const text = part.repeat(200_000 / part.length);
      // A search that tries every end for every beginning would take minutes here, and run into the test's limit.
      expect(redactor.call().text(text, "test").length).toBeGreaterThan(0);
    }
  }, 60_000);

  it("in a form, in multipart, in a URI", () => {
    const form = redactor
      .call()
      .body(Buffer.from(`to=${percent(SECRETS["email"]!)}&x=1`), "application/x-www-form-urlencoded", "test");
    expect(new URLSearchParams(Buffer.from(form).toString()).get("to")).toBe("«email:1»");
    const file = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
    const part = (head: string, content: Buffer) =>
      Buffer.concat([
        Buffer.from(`--edge\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
        content,
        Buffer.from("\r\n"),
      ]);
    const multipart = Buffer.concat([
      part('name="prompt"', Buffer.from(`from ${SECRETS["email"]}`)),
      part('name="file"; filename="/home/ada/x.bin"', file),
      Buffer.from("--edge--\r\n"),
    ]);
    const redacted = Buffer.from(redactor.call().body(multipart, "multipart/form-data; boundary=edge", "test"));
    expect(redacted.toString("latin1")).not.toContain("Lovelace");
    expect(redacted.toString("latin1")).not.toContain("/home/ada");
    expect(redacted.includes(file)).toBe(true);
    expect(redactor.call().uri("/v1/models?key=opensesame&q=a%40b.example", "test")).toBe(
      `/v1/models?key=${encodeURIComponent("«query-credential:1»")}&q=${encodeURIComponent("«email:1»")}`,
    );
  });

  it("in headers: credentials by name, without scheme and attributes, and wherever else they are", () => {
    const call = redactor.call();
    const headers = call.headers(
      {
        authorization: "Bearer open-sesame",
        "x-api-key": SECRETS["openai-key"],
        "set-cookie": ["sid=abc; Path=/"],
        "user-agent": "me",
      },
      "request headers",
    );
    expect(headers).toEqual({
      authorization: "Bearer «secret:1»",
      "x-api-key": "«openai-key:1»",
      "set-cookie": ["sid=«cookie:1»; Path=/"],
      "user-agent": "me",
    });
    expect(call.json('{"error":"no key open-sesame"}', "response body")).toBe('{"error":"no key «secret:1»"}');
    expect(redactor.call().headers(headers, "request headers")).toBe(headers);
  });
});

describe("a credential that was sent", () => {
  const password = "opensesame42";
  const basic = (text: string): string => Buffer.from(text).toString("base64");
  const sent: [string, (call: Redaction) => unknown][] = [
    ["as a bearer", (call) => call.headers({ authorization: `Bearer ${password}` }, "test")],
    ["as a key", (call) => call.headers({ "x-api-key": password }, "test")],
    ["with a user", (call) => call.headers({ authorization: `Basic ${basic(`ada:${password}`)}` }, "test")],
    ["among cookies", (call) => call.headers({ cookie: `a=b; sid=${password}; c=d` }, "test")],
    ["in a query", (call) => call.uri(`/v1/models?key=${password}`, "test")],
    ["in a URL", (call) => call.text(`postgres://ada:${password}@db.example/x`, "test")],
    ["as a member", (call) => call.json(JSON.stringify({ metadata: { password } }), "test")],
    ["in an assignment", (call) => call.text(`PASSWORD=${password}`, "test")],
  ];
  it.each(sent)("%s is one where it is quoted too, in any split", (_, send) => {
    const call = redactor.call();
    send(call);
    expect(call.text(`Not ${password}.`, "test")).toMatch(/^Not «[a-z-]+:\d»\.$/);
    const events = cut(`Not ${password}.`, [3, 9, 12]).map((delta, index) => JSON.stringify({ index, delta }));
    expect(call.events(events, "test").join("")).not.toMatch(/open|42/);
  });

  it("is learned without a finding, and without a number", () => {
    const call = redactor.call();
    call.learn(() => call.headers({ authorization: `Bearer ${password}`, from: "ada@example.com" }, "test"));
    expect(call.findings).toEqual([]);
    expect(call.text(`${password}, bob@example.com`, "test")).toBe("«secret:1», «email:1»");
  });

  it("is found behind the escapes of JSON in JSON", () => {
    const call = redactor.call();
    const secret = 'open"sesame\\42';
    call.headers({ "x-api-key": secret }, "test");
    const quoted = JSON.stringify({ arguments: JSON.stringify({ note: `Not ${secret}.` }) });
    expect(call.json(quoted, "test")).toBe(JSON.stringify({ arguments: JSON.stringify({ note: "Not «secret:1»." }) }));
  });

  it("is none when it is allowed", async () => {
    const call = (await createRedactor({ allow: [password] })).call();
    call.headers({ "x-api-key": password }, "test");
    expect(call.text(`Not ${password}.`, "test")).toBe(`Not ${password}.`);
  });

  it.each(["dummy", "placeholder", "a1b2"])("is not looked for where it could be any word: %s", (word) => {
    const call = redactor.call();
    call.headers({ authorization: `Bearer ${word}` }, "test");
    expect(call.text(`A ${word} it is.`, "test")).toBe(`A ${word} it is.`);
  });

  it("is looked for, although it is letters alone, where no word is as long", () => {
    const call = redactor.call();
    call.headers({ authorization: "Bearer abcdefghijklmnopqrst" }, "test");
    expect(call.text("It is abcdefghijklmnopqrst.", "test")).toBe("It is «secret:1».");
  });
});

describe("replacements", () => {
  it("are the same for the same secret in a call, however it is written", () => {
    const call = redactor.call();
    expect(call.text("ada@example.com, Bob@example.com, ADA@example.com", "request")).toBe(
      "«email:1», «email:2», «email:1»",
    );
    expect(
      call.json('{"to":"bob\\u0040example.com","card":4111111111111111,"other":"4111-1111-1111-1111"}', "response"),
    ).toBe('{"to":"«email:2»","card":"«card:1»","other":"«card:1»"}');
  });

  it("go on from an earlier redaction's when asked", () => {
    const call = redactor.call();
    call.reserve("«email:4» «phone:1»");
    expect(call.text("ada@example.com «email:4»", "tape")).toBe("«email:5» «email:4»");
  });

  it("have no number when a call is matched, on both sides", () => {
    fc.assert(
      fc.property(around, around, encoding, (first, second, how) => {
        const text = ENCODINGS[how]!(first.text + second.text);
        const recorded = redactor.call();
        recorded.text(second.text, "an earlier turn");
        expect(redactor.match().text(text, "request")).toBe(withoutNumbers(recorded.text(text, "request")));
        expect(redactor.match().text(recorded.text(text, "request"), "request")).toBe(
          redactor.match().text(text, "request"),
        );
      }),
    );
    expect(redactor.match().value({ a: "to «email:7», ada@example.com" }, "request")).toEqual({
      a: "to «email», «email»",
    });
  });
});

describe("fields that must stay whole", () => {
  const key = SECRETS["openai-key"]!;
  for (const [pointer, value] of [
    ["/content/0/signature", { content: [{ type: "thinking", signature: `abc ${key}` }] }],
    ["/content/0/data", { content: [{ type: "redacted_thinking", data: key }] }],
    ["/content/0/data", { content: [{ data: key, type: "redacted_thinking" }] }],
    ["/parts/0/thoughtSignature", { parts: [{ thoughtSignature: Buffer.from(`it is ${key}`).toString("base64") }] }],
    ["/output/0/encrypted_content", { output: [{ type: "reasoning", encrypted_content: key }] }],
  ] as const) {
    it(`${pointer} stops the recording with its pointer, never with the secret`, () => {
      const error = thrown(() => redactor.call().json(JSON.stringify(value), "response body"));
      expect(error).toBeInstanceOf(WholeFieldError);
      expect(error.pointer).toBe(pointer);
      expect(error.message).not.toContain(key);
    });
  }

  it("are compared like all others: nothing of that is written", () => {
    expect(redactor.match().value({ signature: `abc ${key}` }, "request")).toEqual({ signature: "abc «openai-key»" });
  });

  it("also when it comes in pieces", () => {
    const pieces = cut(key, [5, 20]).map((signature) =>
      JSON.stringify({ type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature } }),
    );
    expect(thrown(() => redactor.call().events(pieces, "response body")).pointer).toBe("/0/delta/signature");
  });

  it("that hold no secret are of no concern", () => {
    const text = JSON.stringify({
      signature: Buffer.from(Array.from({ length: 300 }, (_, at) => (at * 89) % 256)).toString("base64"),
      to: "ada@example.com",
    });
    expect(redactor.call().json(text, "test")).toBe(text.replace("ada@example.com", "«email:1»"));
  });
});

function thrown(run: () => unknown): WholeFieldError {
  try {
    run();
  } catch (error) {
    return error as WholeFieldError;
  }
  throw new Error("nothing was thrown");
}

describe("the user's own", () => {
  it("patterns, words and pointers", async () => {
    const own = await createRedactor({
      patterns: [{ name: "ticket", pattern: "🎭?TICKET-(\\d+)" }],
      words: ["Project Möwe", "a.b"],
      pointers: ["/user/*", "/metadata/tenant"],
      allow: ["support@example.com"],
      detectors: { phone: false },
    });
    const call = own.call();
    expect(call.text("🎭 TICKET-4711 for project möwe, aXb, a.b, support@example.com, +49 170 1234567", "test")).toBe(
      "🎭 TICKET-«ticket:1» for «word:1», aXb, «word:2», support@example.com, +49 170 1234567",
    );
    expect(
      call.json('{"user":{"name":"Ada","age":36},"metadata":{"tenant":"t1"},"x":"日 PROJECT M\\u00d6WE"}', "test"),
    ).toBe('{"user":{"name":"«pointer:1»","age":"«pointer:2»"},"metadata":{"tenant":"«pointer:3»"},"x":"日 «word:1»"}');
  });

  it("and what is allowed stays, wherever it is", async () => {
    const allowing = await createRedactor({
      allow: [...Object.values(SECRETS), ...VARIANTS.map(([, text]) => text), "example.com"],
      detectors: { "host-name": true, "ip-address": true },
      words: [SECRETS["email"]!],
      pointers: ["/tenant"],
    });
    fc.assert(
      fc.property(around, encoding, ({ text, hidden }, how) => {
        // What stands around it may look like more of it.
        fc.pre(
          redactor
            .call()
            .text(text, "test")
            .replace(/«[^»]+»/, hidden) === text,
        );
        const encoded = ENCODINGS[how]!(text);
        expect(allowing.call().text(encoded, "test")).toBe(encoded);
        const json = JSON.stringify({ text, password: hidden, authorization: `Bearer ${hidden}`, tenant: hidden });
        expect(allowing.call().json(json, "test")).toBe(json);
        const headers = { authorization: `Bearer ${hidden}`, "x-api-key": hidden };
        expect(allowing.call().headers(headers, "test")).toEqual(headers);
      }),
      { numRuns: 300 },
    );
  });

  it("and it stays in every spelling that a detector knows, and nothing else does", async () => {
    const call = (
      await createRedactor({ allow: ["DE89370400440532013000", "ADA@example.com", "a b 4111111111111111"] })
    ).call();
    expect(
      call.text("DE89 3704 0044 0532 0130 00, ada@Example.com, bob@example.com, 4111 1111 1111 1111", "test"),
    ).toBe("DE89 3704 0044 0532 0130 00, ada@Example.com, «email:1», «card:1»");
  });

  it("are refused with what is wrong", async () => {
    await expect(createRedactor({ detectors: { emial: true } })).rejects.toThrow(
      /There is no detector "emial"; there are .*email/,
    );
    await expect(createRedactor({ patterns: [{ name: "x", pattern: "(" }] })).rejects.toThrow(
      /The pattern "x" is none in RE2's syntax/,
    );
    await expect(createRedactor({ patterns: [{ name: "X y", pattern: "a" }] })).rejects.toThrow(
      /lower case with digits and dashes/,
    );
    await expect(createRedactor({ pointers: ["user"] })).rejects.toThrow(/no JSON Pointer/);
    await expect(createRedactor({ words: [" "] })).rejects.toThrow(/too short/);
  });
});
