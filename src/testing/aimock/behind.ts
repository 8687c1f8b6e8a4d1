import type { IncomingMessage, ServerResponse } from "node:http";
import type { Fixture } from "../../fixtures/types.ts";
import { StuntDouble } from "../../server/double.ts";
import type { StuntDoubleOptions } from "../../server/options.ts";
import type { RecordOptions } from "../../server/recording.ts";
import type { JournalResponse } from "../../state/journal.ts";
import { AimockJournal } from "./journal.ts";
import type { MockServerOptions, Mountable, RecordConfig } from "./types.ts";

/** The double behind aimock's names, and its journal in their shape. */
export interface Behind {
  double: StuntDouble;
  journal: AimockJournal;
}

/** @param fixtures served as they are at the moment of a call */
export function doubleBehind(fixtures: Fixture[], options: MockServerOptions): Behind {
  const fixtureOf = new WeakMap<JournalResponse, Fixture>();
  const { logLevel = "silent", record, journalMaxEntries, fixtureCountsMaxTestIds, auth, ...same } = options;
  const keys = apiKeys(auth);
  const settings: StuntDoubleOptions = {
    ...same,
    liveFixtures: fixtures,
    plainMisses: true,
    metricsCompat: true,
    ...(journalMaxEntries !== undefined && { journalMaxEntries: journalMaxEntries || AS_GOOD_AS_ALL }),
    ...(fixtureCountsMaxTestIds !== undefined && {
      fixtureCountsMaxTestIds: fixtureCountsMaxTestIds || Number.MAX_SAFE_INTEGER,
    }),
    ...(record !== undefined && { record: recordOptions(record) }),
    ...(keys !== undefined && { auth: { apiKeys: keys } }),
    onWarning: (message) => {
      if (logLevel !== "silent") process.stderr.write(`${message}\n`);
    },
    onCall: ({ method, path, response, tape }) => {
      if (tape !== undefined && response.source === "fixture") fixtureOf.set(response, tape as Fixture);
      if (logLevel === "info" || logLevel === "debug") {
        process.stderr.write(`${response.status} ${method} ${path} ${response.fixture ?? response.source}\n`);
      }
    },
  };
  const double = new StuntDouble(settings);
  return { double, journal: new AimockJournal(double, fixtureOf) };
}

// The journal is a ring of so many places; no test looks at more.
const AS_GOOD_AS_ALL = 100_000;

export function recordOptions({ recordFullModelVersion, fixturePath, ...same }: RecordConfig): RecordOptions {
  return {
    ...same,
    fixturePath: fixturePath ?? "./fixtures/recorded",
    ...(recordFullModelVersion && { fullModelVersion: true }),
  };
}

function apiKeys(auth: MockServerOptions["auth"]): readonly string[] | undefined {
  const { AIMOCK_API_KEYS: listed } = process.env;
  return listed === undefined ? auth?.apiKeys : listed.split(",").map((key) => key.trim());
}

/** Hands the requests below a path to a mount. */
export function mountOn({ double, journal }: Behind, path: string, handler: Mountable): void {
  handler.setJournal?.(journal);
  double.mount(path, (request, response, pathname) =>
    // Node's HTTP/2 requests and responses have the members of HTTP/1.1's.
    handler.handleRequest(request as IncomingMessage, response as ServerResponse, pathname),
  );
}
