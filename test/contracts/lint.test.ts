import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { CallContract } from "../../src/conformance/contracts/contract.ts";
import { hostOf, isNeverServed, isReserved, lintContracts, lintSuite } from "../../src/conformance/contracts/lint.ts";
import { makeTemplate } from "../../src/conformance/contracts/template.ts";
import { memberText } from "../../src/wire/json-rpc.ts";
import { pair, suiteOf } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "stuntdouble-lint-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let copies = 0;

/** What lint says of the suite with one file changed. */
async function lintWith(file: string, change: (contract: Record<string, never>) => unknown): Promise<string[]> {
  const root = join(folder, `suite-${++copies}`);
  cpSync("test/contracts/download-manager", root, { recursive: true });
  const path = join(root, file);
  const value = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify(change(value) ?? value, null, 2));
  const linted = await lintContracts(root);
  return linted.flatMap(({ problems }) => problems.map(({ message, line }) => `${line ?? ""} ${message}`));
}

const params = (more: object) => (contract: { request?: { params: object } }) => {
  Object.assign(contract.request?.params ?? {}, more);
};

test("the suite itself is clean", async () => expect(await lintWith("contract.json", () => undefined)).toEqual([]));

test.each<[string, string, (contract: Record<string, never>) => unknown, string]>([
  [
    "a URL that a start mode would fetch",
    "download.add.json",
    params({ url: "http://localhost:80/a.iso", startMode: "now" }),
    '"http://localhost:80/a.iso" can be fetched, and startMode "now" makes a real server do so at once',
  ],
  [
    "a real host",
    "download.add.json",
    params({ url: "https://releases.ubuntu.com/x.iso" }),
    "/request/params/url names the host releases.ubuntu.com",
  ],
  [
    "a path of a machine",
    "download.add.json",
    params({ saveDir: "/home/sam/Downloads" }),
    "/request/params/saveDir holds a path of someone's machine (/home/sam/Downloads)",
  ],
  [
    "a secret",
    "settings.set.json",
    params({ token: `ghp_${"a1B2".repeat(9)}` }),
    "/request/params/token holds what looks like a secret",
  ],
  [
    "an id that nothing binds",
    "download.get.json",
    params({ id: "$other" }),
    "/request/params/id is $other, and nothing binds it",
  ],
  [
    "a name that is there already",
    "download.get.json",
    (contract) => ({ ...contract, name: "download.list" }),
    'the name is that of download.get.json, too: "download.list"',
  ],
  [
    "an empty description",
    "download.get.json",
    (contract) => ({ ...contract, description: " " }),
    '"description" is empty',
  ],
  [
    "a blank that record left",
    "download.get.json",
    (contract) => ({ ...contract, name: "TODO: name" }),
    '"name" is still a blank',
  ],
  [
    "a response that its schema refuses",
    "download.pause.json",
    (contract) => ({ ...contract, response: { jsonrpc: "2.0", id: 14, result: { id: "$taskId", state: "halted" } } }),
    "/response/result/state must be one of",
  ],
  [
    "an error that nothing calls for",
    "errors/download.add.bad-path.json",
    params({ saveDir: undefined, category: "Programs" }),
    "its request is that of a success",
  ],
  [
    "an event without a cause",
    "contract.json",
    (suite) => ({ ...suite, events: {} }),
    "nothing says what causes the event",
  ],
  [
    "a member that there is not",
    "download.get.json",
    (contract) => ({ ...contract, requiers: "x" }),
    "/requiers is no member that the schema has",
  ],
])("%s is refused", async (_, file, change, message) => {
  expect((await lintWith(file, change)).some((said) => said.includes(message))).toBe(true);
});

test("a placeholder may stand where a secret would", async () => {
  const root = join(folder, "placeholders");
  mkdirSync(root);
  const contract = {
    name: "login",
    description: "A token is handed out.",
    request: { jsonrpc: "2.0", id: 1, method: "login", params: { user: "ada" } },
    response: { jsonrpc: "2.0", id: 1, result: { access_token: "$opaque", client_secret: "$any" } },
  };
  writeFileSync(join(root, "login.json"), JSON.stringify(contract));
  expect((await lintContracts(root)).flatMap(({ problems }) => problems)).toEqual([]);
});

test("a schema's own host may be allowed", async () => {
  const root = join(folder, "hosts");
  mkdirSync(root);
  const contract = {
    name: "a",
    description: "b",
    request: { jsonrpc: "2.0", id: 1, method: "a", params: { url: "https://mirror.internal/x" } },
    response: { jsonrpc: "2.0", id: 1, result: 1 },
  };
  writeFileSync(join(root, "a.json"), JSON.stringify(contract));
  writeFileSync(join(root, "contract.json"), JSON.stringify({ hosts: ["mirror.internal"] }));
  expect((await lintContracts(root)).flatMap(({ problems }) => problems)).toEqual([]);
});

test("a contract that names a random URL is refused where anybody could own its host, or where it would be fetched", async () => {
  const text = (url: string, startMode: string) =>
    JSON.stringify({ request: { jsonrpc: "2.0", id: 1, method: "a", params: { from: [url], startMode } } });
  const suite = await suiteOf({ a: pair("a", {}, { result: 1 }) });
  const [contract] = suite.contracts as [CallContract];
  const urls = fc.oneof(
    fc.webUrl({ withQueryParameters: true }),
    fc
      .tuple(
        fc.constantFrom("https", "ftp", "ws"),
        fc.constantFrom("example.org", "a.test", "localhost", "192.0.2.7"),
        fc.webPath(),
      )
      .map(([scheme, host, path]) => `${scheme}://${host}${path}`),
  );
  await fc.assert(
    fc.asyncProperty(urls, fc.constantFrom("now", "queue", "later"), async (url, startMode) => {
      const json = text(url, startMode);
      const asking = { ...contract, text: json, request: makeTemplate(memberText(json, "request") as string) };
      const said = (await lintSuite({ ...suite, contracts: [asking] })).map(({ message }) => message);
      const { hostname } = new URL(url);
      const fetched = !isNeverServed(hostname) && startMode !== "later";
      expect(said.filter((message) => message.includes("can be fetched"))).toHaveLength(fetched ? 1 : 0);
      expect(said.filter((message) => message.includes(`names the host ${hostname}`))).toHaveLength(
        isReserved(hostname) ? 0 : 1,
      );
    }),
  );
});

test("of random URLs exactly those on hosts that anybody could own are refused", () => {
  fc.assert(
    fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (url) => {
      const host = hostOf(url);
      expect(host).toBe(new URL(url).hostname);
      expect(isReserved(host as string)).toBe(
        /(^|\.)(example\.(com|org|net)|example|test|invalid|localhost)$/.test(host as string),
      );
    }),
  );
  fc.assert(
    fc.property(
      fc.domain(),
      fc.constantFrom("example.org", "example.com", "sub.example.net", "localhost", "x.test"),
      (domain, reserved) => {
        expect(isReserved(hostOf(`https://${reserved}/${domain}`) as string)).toBe(true);
        expect(isReserved(hostOf(`https://${reserved}.${domain}/`) as string)).toBe(false);
        expect(isReserved(hostOf(`https://${reserved}@${domain}/`) as string)).toBe(false);
        expect(isReserved(hostOf(`https://${reserved.toUpperCase()}:8080/`) as string)).toBe(true);
      },
    ),
  );
  fc.assert(fc.property(fc.string(), (text) => void hostOf(text)));
});
