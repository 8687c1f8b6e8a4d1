import { expect, test } from "vitest";
import { loadContracts } from "../../src/conformance/contracts/load.ts";
import { verifyContracts } from "../../src/conformance/contracts/verify.ts";
import { DownloadDaemon, type Fault } from "./daemon.ts";
import { liveTarget } from "./support.ts";

const loaded = await loadContracts("test/contracts/download-manager");
const suite = { ...loaded, settings: { ...loaded.settings, eventTimeoutMs: 100 } };

async function differences(fault: Fault | undefined, allow: string[] = []) {
  const target = liveTarget(
    new DownloadDaemon({ ...(fault && { fault }), root: "/tmp/downloads", wedged: allow.length > 0 }),
  );
  const verdicts = await verifyContracts(suite, target, {
    transport: "unix",
    settleMs: 3,
    responseTimeoutMs: 200,
    allow,
  });
  return verdicts.flatMap((verdict) =>
    verdict.differences.map(({ case: id, pointer, detail }) => `${id} ${pointer} ${detail}`),
  );
}

test("the daemon passes all of its contracts", async () => {
  expect(await differences(undefined)).toEqual([]);
  expect(await differences(undefined, ["capture.offer.timeout"])).toEqual([
    "capture.offer.json  no reply came within 200 ms",
  ]);
});

const caught: [Fault, string][] = [
  ["misses a member", "download.get.json /result/category it is missing"],
  ["has a member too many", "download.get.json /result/debug the golden has no such member"],
  ["retypes a member", "download.get.json /result/url expected a string, and a number came"],
  ["retypes an element's member", "download.list.json /result/tasks/0/state expected a string, and a number came"],
  [
    "misspells a state",
    'download.pause.json /result/state the schema refuses it: it must be one of ["waiting","running","paused"]',
  ],
  ["null url", "download.get.json /result/url the schema refuses it: it must be string"],
  ["bad uuid", "download.add.json /result/id expected a UUID"],
  ["bad date", "download.add.json /result/addedAt expected a date and time as RFC 3339 has it"],
  ["short token", "pairing.confirm.json /result/token expected a token: at least 8 characters without a space"],
  ["gets another task", "download.get.json /result/id it is not what $taskId is bound to"],
  ["other error code", "errors/download.get.not-found.json /error/code it is another error"],
  ["fails", "download.get.json /error it failed, and the golden succeeds"],
  ["succeeds", "errors/download.get.not-found.json /result it succeeded, and the golden fails with -32004"],
  ["no version", 'settings.get.json /jsonrpc it is not "2.0"'],
  ["event of another task", "events/download.added.json /params/task/id it is not what $taskId is bound to"],
  ["event twice", "events/download.added.json  the event download.added came 2 times for one download.add"],
  ["writes noise", "settings.get.json  what came is no JSON-RPC message: it is no JSON"],
  ["answers twice", "settings.get.json  a reply to the id 17 came late, or a second time"],
  ["closes instead of answering", "settings.get.json  no reply came: it ended"],
];

test.each(caught)("a daemon that %s is caught where it does", async (fault, difference) => {
  expect((await differences(fault)).some((found) => found.startsWith(difference))).toBe(true);
});

test("a missing event is said with what should have caused it", async () => {
  const verdicts = await verifyContracts(suite, liveTarget(new DownloadDaemon({ fault: "no event" })), {
    transport: "unix",
    settleMs: 1,
    filter: ({ id }) => id === "events/download.added.json",
  });
  expect(verdicts[0]?.differences.map(({ detail }) => detail)).toEqual([
    "no event download.added came within 100 ms of download.add",
  ]);
});

test.each<[Fault, string]>([
  ["answers the offer", "a reply came within 60 ms, and none may"],
  ["hangs after the offer", "the connection does not serve the next request: nothing came within 200 ms"],
  ["answers the offer late", "a reply to the id 33 came late, or a second time"],
])("of a daemon that %s, a timeout says so", async (fault, detail) => {
  const verdicts = await verifyContracts(suite, liveTarget(new DownloadDaemon({ fault, root: "/tmp" })), {
    transport: "unix",
    settleMs: 20,
    responseTimeoutMs: 200,
    allow: ["capture.offer.timeout"],
    filter: ({ kind }) => kind === "timeout",
  });
  expect(verdicts[0]?.differences.map((difference) => difference.detail)).toEqual([detail]);
});

test("what is skipped says why, prose is listed, and coverage is part of the report", async () => {
  const verdicts = await verifyContracts(suite, liveTarget(new DownloadDaemon({ root: "/tmp/downloads" })), {
    transport: "unix",
    settleMs: 1,
  });
  const notes = Object.fromEntries(verdicts.map((verdict) => [verdict.case, verdict.notes]));
  expect(notes["errors/download.add.disk-full.json"]).toEqual([
    "it requires: a downloads folder with less than 4 MB left (arrange that, and add --allow errors/download.add.disk-full.json)",
  ]);
  expect(notes["errors/pairing.begin.transport.json"]).toEqual([
    "it is for tcp only, and the target is reached by unix",
  ]);
  expect(notes["download.add.json"]).toEqual(["for the reviewer: Nothing is fetched from the URL."]);
  expect(notes["settings.get.json"]).toEqual(["/result/hosts: an empty array came, so its elements are unchecked"]);
  expect(notes["coverage"]).toEqual(["23 of 23 methods, events and errors of the schema have a contract"]);
});
