import { pointerSegment } from "../../wire/json-pointer.ts";
import type { AnsweringContract } from "./answers.ts";
import type { Contract, EventContract } from "./contract.ts";
import { echoOf, givenIn, membersOf, sameJson } from "./echo.ts";
import type { IdKind, LiveIds } from "./live-ids.ts";
import type { Suite } from "./load.ts";
import { type MessagePlan, planMessage } from "./response-plan.ts";

/** What is known of a contract before anybody asks. */
export interface PlannedCall {
  response: MessagePlan | undefined;
  /** The response before and after the id, where that is all that changes in it and nothing happens besides. */
  still: readonly [before: string, after: string] | undefined;
  events: readonly PlannedEvent[];
  /** Names under which its golden response says something else than its request gives. */
  changed: ReadonlySet<string>;
  /** Kinds of ids that the method changes the things of. */
  changes: ReadonlySet<IdKind>;
  /** Whether anything asks for what the request gives. */
  takesGiven: boolean;
}

export interface PlannedEvent {
  contract: EventContract;
  message: MessagePlan;
}

/** The contracts that a mock plays. */
export interface MockPlan {
  calls: ReadonlyMap<AnsweringContract, PlannedCall>;
  events: readonly PlannedEvent[];
}

export function planMock(
  calls: readonly AnsweringContract[],
  events: readonly EventContract[],
  suite: Suite,
  ids: LiveIds,
): MockPlan {
  const planned = events.map((contract) => ({ contract, message: planEvent(contract, ids) }));
  const usual = usualOf(calls, suite);
  return {
    calls: new Map(calls.map((contract) => [contract, planCall(contract, planned, suite, ids, usual)])),
    events: planned,
  };
}

/** Names of params that come by position. */
export function paramNames({ schema }: Suite, method: string): string[] | undefined {
  return schema?.methods.get(method)?.params?.map(({ name }) => name);
}

function planCall(
  contract: AnsweringContract,
  allEvents: readonly PlannedEvent[],
  suite: Suite,
  ids: LiveIds,
  usual: Usual,
): PlannedCall {
  const { kind, method, request } = contract;
  if (kind === "timeout")
    return {
      response: undefined,
      still: undefined,
      events: [],
      changed: new Set(),
      changes: new Set(),
      takesGiven: false,
    };
  const succeeds = kind === "success";
  const { back, changed } = echoOf(givenIn(request.text, paramNames(suite, method)), contract.response.text);
  const response = planMessage(contract.response, ids, {
    method: succeeds ? method : undefined,
    placeholders: new Set(request.holes.map(({ name }) => name)),
    back,
    isUsual: (of, member, literal) => usual(of.method, member, literal),
  });
  const events = allEvents.filter((event) => succeeds && event.contract.event.after === method);
  const changes = new Set(succeeds ? ids.kinds.filter((of) => ids.changes(of, method)) : []);
  const takesGiven = response.takesGiven || changes.size > 0 || events.some(({ message }) => message.takesGiven);
  const deletes = ids.kinds.some((of) => succeeds && ids.deletes(of, method));
  const still = takesGiven || deletes || events.length > 0 ? undefined : stillOf(response);
  return { response, still, events, changed, changes, takesGiven };
}

function stillOf({ template, lists }: MessagePlan): PlannedCall["still"] {
  const { text, holes } = template;
  const [id] = holes;
  if (!id || holes.length > 1 || id.pointer !== "/id" || lists.size > 0) return undefined;
  return [text.slice(0, id.start), text.slice(id.end)];
}

/** An event says what its cause was given, under the names of the params. */
function planEvent({ notification }: EventContract, ids: LiveIds): MessagePlan {
  const { params } = notification.value as { params?: unknown };
  const names = typeof params === "object" && params !== null && !Array.isArray(params) ? Object.keys(params) : [];
  return planMessage(notification, ids, {
    method: undefined,
    placeholders: new Set(),
    back: new Set(names.map((name) => `/params${pointerSegment(name)}`)),
    isUsual: () => true,
  });
}

/** Whether the golden pairs of the method that gives out ids say this literal of a new one, under that name. */
type Usual = (method: Contract["method"], member: string, literal: string) => boolean;

function usualOf(calls: readonly AnsweringContract[], { settings }: Suite): Usual {
  const texts = (method: string) => [
    ...settings.setup.filter((call) => call.method === method).map(({ request }) => request.text),
    ...calls.flatMap((contract) =>
      contract.kind === "success" && contract.method === method ? [contract.request.text, contract.response.text] : [],
    ),
  ];
  return (method, member, literal) =>
    texts(method).some((text) => membersOf(text, member).some((value) => sameJson(value, literal)));
}
