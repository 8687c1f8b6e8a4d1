import { parsePointer } from "../wire/json-pointer.ts";
import { FLOW_LOCKSTEP, FLOW_PIPELINED, type Manifest } from "./transcript.ts";

/** Members that a manifest may have; lint names others, which are often misspelt ones. */
export const MANIFEST_MEMBERS = [
  "case",
  "description",
  "flow",
  "placeholders",
  "volatile",
  "responses",
  "order",
  "serverRequests",
  "unanswered",
  "inTurn",
  "framing",
  "$schema",
] as const;

/**
 * Reads a manifest's members. Every fault is told to `fault`; undefined when there was one.
 *
 * @param name the case folder's name.
 */
export function readManifest(value: unknown, name: string, fault: (message: string) => void): Manifest | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    fault("the manifest is no JSON object.");
    return undefined;
  }
  const members = value as Record<string, unknown>;
  let faults = 0;
  const expect = (holds: boolean, message: string) => {
    if (holds) return;
    faults++;
    fault(message);
  };
  const shown = (member: string) =>
    members[member] === undefined ? "it is missing" : `it is ${JSON.stringify(members[member])}`;

  expect(members["case"] === name, `"case" has to be the folder's name, "${name}"; ${shown("case")}.`);
  expect(
    typeof members["description"] === "string" && members["description"].trim() !== "",
    '"description" has to say which behaviour the case proves; it is empty or missing.',
  );
  expect(
    members["flow"] === FLOW_LOCKSTEP || members["flow"] === FLOW_PIPELINED,
    `"flow" has to be "${FLOW_LOCKSTEP}" (or the extension "${FLOW_PIPELINED}"); ${shown("flow")}. An unknown flow is not replayed on a guess.`,
  );
  const responses = members["responses"];
  expect(
    Number.isSafeInteger(responses) && (responses as number) >= 0,
    `"responses" has to be the number of frames that the adapter writes; ${shown("responses")}.`,
  );
  const placeholders = members["placeholders"] ?? {};
  expect(
    typeof placeholders === "object" &&
      !Array.isArray(placeholders) &&
      Object.values(placeholders).every((text) => typeof text === "string"),
    `"placeholders" has to map each token to a description; ${shown("placeholders")}.`,
  );
  const volatile = members["volatile"] ?? [];
  const isList = Array.isArray(volatile) && volatile.every((pointer) => typeof pointer === "string");
  expect(isList, `"volatile" has to be a list of JSON Pointers; ${shown("volatile")}.`);
  if (isList) {
    for (const pointer of volatile as string[]) {
      try {
        parsePointer(pointer);
      } catch (error) {
        expect(false, `"volatile": ${(error as Error).message}`);
      }
    }
  }
  const order = members["order"] ?? "recorded";
  expect(order === "recorded" || order === "any", `"order" has to be "recorded" or "any"; ${shown("order")}.`);
  const serverRequests = members["serverRequests"] ?? false;
  expect(typeof serverRequests === "boolean", `"serverRequests" has to be true or false; ${shown("serverRequests")}.`);
  const unanswered = members["unanswered"] ?? [];
  expect(
    Array.isArray(unanswered) && unanswered.every((id) => typeof id === "string" || typeof id === "number"),
    `"unanswered" has to be a list of request ids; ${shown("unanswered")}.`,
  );
  const inTurn = members["inTurn"] ?? [];
  expect(
    Array.isArray(inTurn) && inTurn.every((line) => Number.isSafeInteger(line) && line >= 1),
    `"inTurn" has to be a list of line numbers; ${shown("inTurn")}.`,
  );
  const framing = members["framing"] ?? "lines";
  expect(
    framing === "lines" || framing === "content-length",
    `"framing" has to be "lines" or "content-length"; ${shown("framing")}.`,
  );
  if (faults > 0) return undefined;
  return {
    case: name,
    description: members["description"] as string,
    flow: members["flow"] as Manifest["flow"],
    placeholders: placeholders as Record<string, string>,
    volatile: volatile as string[],
    responses: responses as number,
    order: order as Manifest["order"],
    serverRequests: serverRequests as boolean,
    unanswered: unanswered as (string | number)[],
    inTurn: inTurn as number[],
    framing: framing as Manifest["framing"],
    unknownMembers: Object.keys(members).filter((member) => !MANIFEST_MEMBERS.some((known) => known === member)),
  };
}
