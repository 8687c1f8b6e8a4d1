import childProcess from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import got from "got";
import { FormData as UndiciFormData, request as undiciRequest } from "undici";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { VcrError, type VcrOptions, vcr } from "../../src/testing/vcr/index.ts";
import { clients } from "./clients.ts";
import { allAt, filesIn, listening, newFolder, provider } from "./support.ts";

const openai = clients["openai"]!;
const node = clients["node:http and node:https"]!;

afterEach(() => {
  vi.unstubAllEnvs();
  vcr.network.unblock();
});

/** Answered by a fixture: nothing is written. */
function saying(content: string, more: Partial<VcrOptions> = {}): VcrOptions {
  return { mode: "replay", folder: "/nowhere", double: { fixtures: [{ match: {}, response: { content } }] }, ...more };
}

async function rejection(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  return promise.then(
    () => {
      throw new Error("It did not fail.");
    },
    (error) => error,
  );
}

describe("scopes", () => {
  test("at the same time are told apart by their asynchronous context", async () => {
    const asked = (name: string): Promise<string[]> =>
      vcr.use(name, saying(`from ${name}`), async () => {
        const answers: string[] = [];
        for (let turn = 0; turn < 5; turn++) {
          answers.push(await (turn % 2 === 0 ? openai : node).whole("hello"));
          await new Promise((done) => setImmediate(done));
        }
        return answers;
      });
    const names = Array.from({ length: 8 }, (_, index) => `scope ${index}`);
    const answers = await Promise.all(names.map(asked));
    expect(answers).toEqual(names.map((name) => Array(5).fill(`from ${name}`)));
  });

  test("may stand in one another: the inner one answers, and the outer one after it", async () => {
    const answers = await vcr.use("outer", saying("outer"), async () => [
      await openai.whole("hello"),
      await vcr.use("inner", saying("inner"), () => openai.whole("hello")),
      await openai.whole("hello"),
    ]);
    expect(answers).toEqual(["outer", "inner", "outer"]);
  });

  test("may be entered and disposed of", async () => {
    const ask = async (): Promise<string> => {
      await using scope = vcr.use("entered", saying("entered"));
      expect(scope.name).toBe("entered");
      return await node.whole("hello");
    };
    const [answer, other] = await Promise.all([ask(), vcr.use("other", saying("other"), () => node.whole("hello"))]);
    expect([answer, other]).toEqual(["entered", "other"]);
    vcr.network.block({ onRefused: () => {} });
    expect((await rejection(node.whole("hello"))).message).toContain("the network is blocked");
  });

  test("fail when they are disposed of, too", async () => {
    const scope = vcr.use("entered", saying("entered"));
    expect((await rejection(scope.close())).message).toContain("No call was made to any provider");
    await scope.close();
  });

  test("give what their function gives, and hand it the scope", async () => {
    const calls = await vcr.use("given", saying("hi"), async (scope) => {
      await openai.whole("hello");
      return scope.double.calls().map(({ path }) => path);
    });
    expect(calls).toEqual(["/v1/chat/completions"]);
  });

  test("leave everything as it was", async () => {
    const things = (): unknown[] => [
      ...[http.request, http.get, http.ClientRequest, https.request, https.get, globalThis.fetch],
      ...[1, 2].map((version) => Reflect.get(globalThis, Symbol.for(`undici.globalDispatcher.${version}`))),
    ];
    await vcr.use("first", saying("first"), () => openai.whole("hello"));
    const before = things();
    await vcr.use("second", saying("second"), async () => {
      expect(things().every((thing, index) => thing === before[index])).toBe(false);
      await openai.whole("hello");
    });
    const after = things();
    expect(after.map((thing, index) => thing === before[index])).toEqual(before.map(() => true));
  });

  test("catch nothing once they are over", async () => {
    const { url } = await listening((_, response) => response.end("the real one"));
    let late = (): Promise<string> => Promise.reject();
    await vcr.use("over", saying("caught", { providers: { openai: url } }), async () => {
      late = async () => (await fetch(`${url}/v1/chat/completions`)).text();
      await node.whole("hello");
    });
    expect(await late()).toBe("the real one");
  });
});

describe("modes", () => {
  // Where CI is set, nothing is recorded unless it is asked for.
  beforeEach(() => vi.stubEnv("CI", ""));

  test("auto records what is not there yet, and replays the rest", async () => {
    const upstream = await provider();
    const options: VcrOptions = { mode: "auto", folder: newFolder(), providers: allAt(upstream.url) };
    await vcr.use("growing", options, () => openai.whole("hello"));
    await vcr.use("growing", options, async () => {
      await openai.whole("hello");
      await node.whole("hello, again");
    });
    expect(upstream.calls()).toHaveLength(2);
    expect(filesIn(options.folder!)).toHaveLength(2);
  });

  test("once records a scenario that is new, and replays one that is not", async () => {
    const upstream = await provider();
    const options: VcrOptions = { mode: "once", folder: newFolder(), providers: allAt(upstream.url) };
    await vcr.use("once", options, () => openai.whole("hello"));
    await vcr.use("once", options, () => openai.whole("hello"));
    expect(upstream.calls()).toHaveLength(1);
  });

  test.each([
    [{ CI: "true" }, undefined, "replay"],
    [{ CI: "true" }, "once", "replay"],
    [{ CI: "true" }, "record", "record"],
    [{ CI: "" }, undefined, "auto"],
    [{ CI: "", VCR_MODE: "live" }, undefined, "live"],
    [{ CI: "", VCR_MODE: "live" }, "record", "record"],
  ] as const)("with %o and %s are %s", async (environment, mode, expected) => {
    vi.stubEnv("VCR_MODE", "");
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const options: VcrOptions = { folder: newFolder(), allowEmpty: true, ...(mode && { mode }) };
    expect(await vcr.use("modes", options, (scope) => scope.mode)).toBe(expected);
  });

  test("and settings that are none are refused, and leave nothing behind", () => {
    const { fetch } = globalThis;
    expect(() => vcr.use("wrong", saying("hi", { network: { hosts: ["a b"] } }))).toThrow('"a b" is no host');
    for (const [wrong, told] of [
      [{ providers: { openai: "nowhere" } }, "providers.openai: expected a URL that begins with http:// or https://"],
      [
        { providers: { nobody: "http://localhost:1" } },
        "providers.nobody: there is no such provider; there are openai,",
      ],
      [{ strict: true }, "cassettes.strict: there is no such option; there are mode, folder,"],
      [{ unknown: "ask" }, 'unknown: expected "pass" or "block", but it is "ask".'],
      [{ mode: "rewind" }, 'cassettes.mode: expected one of live, record, replay, auto, once, but it is "rewind".'],
      [
        { match: "loosely" },
        'cassettes.match: expected one of exact, messages, last-message, position, but it is "loosely".',
      ],
      [{ repeat: "cycle" }, 'cassettes.repeat: expected one of miss, last, but it is "cycle".'],
      [{ speed: 0 }, 'cassettes.speed: expected "max", "real" or a factor above 0, but it is 0.'],
    ] as const) {
      expect(() => vcr.use("wrong", saying("hi", wrong as Partial<VcrOptions>))).toThrow(told);
    }
    expect(() => vcr.use("", saying("hi"))).toThrow("A scenario needs a name");
    expect(globalThis.fetch).toBe(fetch);
  });

  test("that are none are refused", () => {
    vi.stubEnv("VCR_MODE", "rewind");
    expect(() => vcr.use("modes")).toThrow("VCR_MODE=rewind: expected one of live, record, replay, auto, once.");
  });
});

describe("a scope fails", () => {
  async function recorded(): Promise<VcrOptions> {
    const upstream = await provider();
    const options: VcrOptions = { folder: newFolder(), providers: allAt(upstream.url) };
    await vcr.use("checkout", { ...options, mode: "record" }, async () => {
      await openai.whole("hello");
      await openai.streamed("hello there", () => {});
    });
    await upstream.stop();
    return { ...options, mode: "replay" };
  }

  test("with the misses, explained, though its function went on", async () => {
    const options = await recorded();
    const error = await rejection(
      vcr.use("checkout", { ...options, allowUnused: true }, () => openai.whole("goodbye").catch(() => "sorry")),
    );
    expect(error).toBeInstanceOf(VcrError);
    expect(error.message).toContain('The scenario "checkout" (replay) did not go as recorded.');
    expect(error.message).toContain("1 call had no tape to answer");
    expect(error.message).toContain('None of the 2 cassettes of the scenario "checkout" is of this call');
    expect(error.message).toContain("goodbye");
  });

  test("with the misses behind its function's own failure, which is the cause", async () => {
    const options = await recorded();
    const error = await rejection(vcr.use("checkout", options, () => openai.whole("goodbye")));
    expect(error.message).toContain("1 call had no tape to answer");
    expect(error.message).not.toContain("Nobody asked for");
    expect(error.cause).toMatchObject({ status: 404 });
  });

  test("with its function's own failure alone where there is nothing else", async () => {
    const failure = new Error("of its own");
    const options = await recorded();
    const failing = vcr.use("checkout", options, async () => {
      await openai.whole("hello");
      throw failure;
    });
    expect(await rejection(failing)).toBe(failure);
  });

  test("with cassettes that nobody asked for", async () => {
    const options = await recorded();
    const error = await rejection(vcr.use("checkout", options, () => openai.whole("hello")));
    expect(error.message).toMatch(
      /Nobody asked for these cassettes .*\n {2}checkout\/02-hello-there-[0-9a-f]{8}\.json$/,
    );
    await vcr.use("checkout", { ...options, allowUnused: true }, () => openai.whole("hello"));
  });

  test("but not with those of other scenarios", async () => {
    const options = await recorded();
    const error = await rejection(vcr.use("another", options, () => openai.whole("hello")));
    expect(error.message).not.toContain("Nobody asked for");
    expect(error.message).toContain('There is no cassette of the scenario "another"');
    await vcr.use("another", { ...options, allowMiss: true }, () => openai.whole("hello").catch(() => {}));
  });

  test("without a call", async () => {
    const options: VcrOptions = { mode: "auto", folder: newFolder() };
    const error = await rejection(vcr.use("empty", options, () => {}));
    expect(error.message).toContain("No call was made to any provider.");
    await vcr.use("empty", { ...options, allowEmpty: true }, () => {});
  });

  test("with a recording that could not be written", async () => {
    const upstream = await provider();
    const folder = newFolder();
    writeFileSync(join(folder, "lost"), "no folder");
    const options: VcrOptions = {
      mode: "record",
      folder,
      providers: allAt(upstream.url),
      double: { onWarning: () => {} },
    };
    const error = await rejection(vcr.use("lost", options, () => openai.whole("hello")));
    expect(error.message).toContain("The recording of POST /v1/chat/completions could not be written");
  });
});

describe("what is not caught", () => {
  test("keeps its connections, beside calls that are caught by the same agent", async () => {
    let connections = 0;
    const { url, server } = await listening((_, response) => response.end("passed"));
    server.on("connection", () => connections++);
    const agent = new http.Agent({ keepAlive: true });
    const ask = async (to: string, path: string, body?: string): Promise<{ text: string; reused: boolean }> => {
      const request = http.request(to + path, { agent, method: body === undefined ? "GET" : "POST" });
      request.setHeader("content-type", "application/json");
      request.end(body);
      const [response] = (await once(request, "response")) as [IncomingMessage];
      const reply = { text: await text(response), reused: request.reusedSocket };
      await new Promise((done) => setImmediate(done));
      return reply;
    };
    const caught = JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "hello" }] });
    const passed = await vcr.use("shared", saying("caught"), async () => {
      const replies: { text: string; reused: boolean }[] = [];
      for (let turn = 0; turn < 3; turn++) {
        replies.push(await ask(url, "/"));
        expect((await ask("http://api.openai.com", "/v1/chat/completions", caught)).text).toContain("caught");
      }
      return replies;
    });
    agent.destroy();
    expect(passed.map((reply) => reply.text)).toEqual(["passed", "passed", "passed"]);
    expect(passed.map(({ reused }) => reused)).toEqual([false, true, true]);
    expect(connections).toBe(1);
  });

  test("keeps them with fetch and undici, which go on with the pools that they had", async () => {
    const ask: Record<string, (url: string) => Promise<{ text(): Promise<string> }>> = {
      fetch: (url) => fetch(url),
      undici: async (url) => (await undiciRequest(url)).body,
    };
    for (const [name, send] of Object.entries(ask)) {
      let connections = 0;
      const { url, server } = await listening((_, response) => response.end("passed"));
      server.on("connection", () => connections++);
      const passing = async (): Promise<void> => {
        expect(await (await send(url)).text()).toBe("passed");
        // A connection is free again one turn after its reply has been read.
        await new Promise((done) => setImmediate(done));
      };
      await passing();
      await vcr.use("shared", saying("caught"), async () => {
        for (let turn = 0; turn < 3; turn++) {
          await passing();
          expect(await openai.whole("hello")).toBe("caught");
        }
      });
      expect(`${name}: ${connections}`).toBe(`${name}: 1`);
    }
  });

  test("is refused while replaying, and tells who asked", async () => {
    const targets: string[] = [];
    const network = { onRefused: ({ target }: { target: string }) => targets.push(target) };
    await vcr.use("alone", saying("caught", { network }), async () => {
      await openai.whole("hello");
      const error = await rejection(fetch("https://telemetry.example/v1"));
      expect(error.message).toBe("fetch failed");
      expect(error.cause).toMatchObject({ code: "ECONNREFUSED", name: "NetworkBlockedError" });
      expect((await rejection(promisify(childProcess.execFile)("git", ["--version"]))).code).toBe("EACCES");
    });
    expect(targets).toEqual(["telemetry.example:443", "git"]);
  });

  test("passes where it is on the list, or where all may", async () => {
    const git = (): Promise<unknown> => promisify(childProcess.execFile)("true");
    await vcr.use("listed", saying("caught", { network: { commands: ["true"] }, allowEmpty: true }), git);
    await vcr.use("open", saying("caught", { unknown: "pass", allowEmpty: true }), git);
    const options: VcrOptions = { mode: "auto", folder: newFolder(), allowEmpty: true };
    vi.stubEnv("CI", "");
    await vcr.use("recording", options, git);
    const network = { onRefused: () => {} };
    expect((await rejection(vcr.use("recording", { ...options, unknown: "block", network }, git))).code).toBe("EACCES");
  });

  test("does not keep a recording from its provider", async () => {
    const refused: unknown[] = [];
    vcr.network.block({ onRefused: (refusal) => refused.push(refusal) });
    const providers = { openai: "http://192.0.2.1:9" };
    const double = { record: { connectTimeoutMs: 20 }, onWarning: () => {} };
    const error = await rejection(
      vcr.use("through", { mode: "record", folder: newFolder(), providers, double }, () =>
        clients["fetch"]!.whole("hello"),
      ),
    );
    expect((error.cause as Error).message).not.toContain("blocked");
    expect(refused).toEqual([]);
  });
});

describe("requests", () => {
  const models = async (response: IncomingMessage): Promise<number | undefined> => {
    expect(JSON.parse(await text(response))).toHaveProperty("data");
    return response.statusCode;
  };
  const FORMS: Record<string, () => http.ClientRequest> = {
    "a URL": () => https.get("https://api.openai.com/v1/models"),
    "a URL object": () => https.get(new URL("https://api.openai.com/v1/models")),
    "a URL and options": () =>
      https.get("https://elsewhere.example/x", { hostname: "api.openai.com", path: "/v1/models" }),
    options: () => https.get({ hostname: "api.openai.com", path: "/v1/models", port: 443 }),
    "the class": () => new http.ClientRequest("http://api.openai.com/v1/models").end(),
    "an agent of their own": () => https.get({ host: "api.openai.com", path: "/v1/models", agent: false }),
  };
  test.each(Object.entries(FORMS))("are caught that are made with %s", async (_, make) => {
    await vcr.use("forms", saying("hi"), async () => {
      const [response] = (await once(make(), "response")) as [IncomingMessage];
      expect(await models(response)).toBe(200);
    });
  });

  test("that are wrong are Node's to refuse", async () => {
    await vcr.use("wrong", saying("hi", { allowEmpty: true }), () => {
      expect(() => http.request("http://")).toThrow(/Invalid URL/);
      expect(() => http.request({ path: "/with space" })).toThrow(/unescaped/);
    });
  });

  test("with a form reach the provider as they are", async () => {
    const bodies: string[] = [];
    const { url } = await listening((incoming, response) => {
      void text(incoming).then((body) => {
        bodies.push(`${incoming.headers["content-type"]?.split(";")[0]} ${body}`);
        response.setHeader("content-type", "application/json").end("{}");
      });
    });
    const options: VcrOptions = { mode: "record", folder: newFolder(), providers: { openai: url } };
    await vcr.use("form", options, async () => {
      for (const form of [new FormData(), new UndiciFormData()]) {
        form.append("purpose", "assistants");
        form.append("file", new Blob(["hello"]), "hello.txt");
        const to = "https://api.openai.com/v1/files";
        if (form instanceof FormData) await (await fetch(to, { method: "POST", body: form })).text();
        else await (await undiciRequest(to, { method: "POST", body: form })).body.text();
      }
    });
    expect(bodies).toHaveLength(2);
    for (const body of bodies) {
      expect(body).toMatch(/^multipart\/form-data /);
      expect(body).toContain('name="purpose"\r\n\r\nassistants');
      expect(body).toContain('filename="hello.txt"');
    }
  });

  test("get what is compressed as they asked for it, recorded and replayed", async () => {
    const { url } = await listening((_, response) => {
      const body = gzipSync(JSON.stringify({ choices: [{ message: { role: "assistant", content: "Hi!" } }] }));
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(body);
    });
    const folder = newFolder();
    const ask = async (): Promise<string[]> => [
      await clients["fetch"]!.whole("hello"),
      await clients["got"]!.whole("hello to you"),
      await clients["axios"]!.whole("hello again"),
    ];
    const options = { folder, providers: { openai: url } };
    expect(await vcr.use("packed", { ...options, mode: "record" }, ask)).toEqual(["Hi!", "Hi!", "Hi!"]);
    expect(await vcr.use("packed", { ...options, mode: "replay" }, ask)).toEqual(["Hi!", "Hi!", "Hi!"]);
  });

  test("to a provider at an address of one's own are caught, and recorded under its name", async () => {
    const upstream = await provider();
    const folder = newFolder();
    const options: VcrOptions = { mode: "record", folder, providers: { groq: `${upstream.url}/gateway` } };
    const { url } = upstream;
    const ask = (): Promise<string> =>
      got
        .post(`${url}/gateway/openai/v1/chat/completions`, {
          json: { model: "llama", messages: [{ role: "user", content: "hello" }] },
        })
        .text();
    const recorded = await vcr.use("own", options, ask);
    await upstream.stop();
    expect(await vcr.use("own", { ...options, mode: "replay" }, ask)).toBe(recorded);
    expect(upstream.lastCall()?.path).toBe("/gateway/openai/v1/chat/completions");
  });

  test("get a status without a body", async () => {
    const { url } = await listening((_, response) => response.writeHead(204).end());
    const options: VcrOptions = { mode: "record", folder: newFolder(), providers: { openai: url } };
    const statuses = await vcr.use("nothing", options, async () => [
      (await fetch("https://api.openai.com/v1/files/1", { method: "DELETE" })).status,
      (await got.delete("https://api.openai.com/v1/files/2")).statusCode,
    ]);
    expect(statuses).toEqual([204, 204]);
  });
});
