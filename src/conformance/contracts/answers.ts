import { pointerSegment } from "../../wire/json-pointer.ts";
import {
  type CallContract,
  type Contract,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  type TimeoutContract,
  type TransportName,
} from "./contract.ts";
import type { IdKind, LiveIds } from "./live-ids.ts";
import type { Placeholders } from "./placeholders.ts";
import type { MethodSchema } from "./service-schema.ts";
import { literalOf, placeholderIn } from "./template.ts";

/** The JSON text of a value of the params. */
export type TextOf = (pointer: string, value: unknown) => string;

export type AnsweringContract = CallContract | TimeoutContract;

/** What a place in a request has to hold for an error to be the answer. */
type Condition = { pointer: string; holds: "literal" | "absent" | "shape" | "dead"; value: unknown; kind?: IdKind };

/** A contract, ready to be held against requests. */
export interface Golden<C extends AnsweringContract = AnsweringContract> {
  contract: C;
  /** The leaves of its params by pointer. */
  leaves: ReadonlyMap<string, unknown>;
  /** Set for errors and timeouts. */
  conditions: readonly Condition[] | undefined;
}

/** What was found for a request. */
export interface Chosen {
  golden: Golden;
  /** What the contract's placeholders stand for in this request: where they are, and their values. */
  captured: ReadonlyMap<string, { pointer: string; value: unknown }>;
}

/** Why nothing answers, to complete "…, and no contract says what is answered then". */
export interface Unanswered {
  reason: string;
  /** The error's code. */
  code: number;
}

/** The contracts of one method, asked which of them answers a request. */
export class MethodAnswers {
  readonly goldens: readonly Golden[];
  readonly #placeholders: Placeholders;
  readonly #ids: LiveIds;
  readonly #schema: MethodSchema | undefined;
  /** What is always chosen: the only contract there is, when nothing of the request goes into its answer. */
  readonly #only: Chosen | undefined;

  constructor(
    contracts: readonly AnsweringContract[],
    schema: MethodSchema | undefined,
    placeholders: Placeholders,
    ids: LiveIds,
  ) {
    this.#placeholders = placeholders;
    this.#ids = ids;
    this.#schema = schema;
    const successes = contracts
      .filter((contract) => contract.kind === "success")
      .map((contract) => ({ contract, leaves: this.#leavesOf(contract), conditions: undefined }));
    const refusals = contracts
      .filter((contract) => contract.kind !== "success")
      .map((contract) => {
        const leaves = this.#leavesOf(contract);
        return { contract, leaves, conditions: this.#conditionsOf(leaves, successes) };
      })
      .filter(
        // With nothing to tell it from a success it would stand in that one's way.
        ({ contract, conditions }) =>
          conditions.length > 0 ||
          contract.requires !== undefined ||
          contract.transport !== undefined ||
          successes.length === 0,
      );
    // An error is the narrower of two that fit equally well.
    this.goldens = [...refusals, ...successes];
    const [first] = this.goldens;
    if (first && this.goldens.length === 1 && !first.conditions && first.contract.transport === undefined) {
      const plain = ![...first.leaves.values()].some((value) => placeholderIn(value) !== undefined);
      if (plain) this.#only = { golden: first, captured: new Map() };
    }
  }

  /**
   * The contract that fits the params best.
   *
   * @param textOf gives ids as they were written
   */
  choose(params: unknown, transport: TransportName, textOf: TextOf): Chosen | Unanswered {
    if (this.#only) return this.#only;
    const { goldens } = this;
    const asked = leavesOf(this.#named(params));
    let best: { golden: Golden; score: number } | undefined;
    let dead: string | undefined;
    for (const golden of goldens) {
      const only = golden.contract.transport;
      if (only !== undefined && only !== transport) continue;
      if (golden.conditions && !this.#allHold(golden.conditions, asked, textOf)) continue;
      const score = this.#score(golden, asked, textOf);
      if (typeof score === "string") {
        dead ??= score;
        continue;
      }
      const finer = score + (only === undefined ? 0 : 0.25);
      if (best === undefined || finer > best.score) best = { golden, score: finer };
    }
    if (best) return { golden: best.golden, captured: captured(best.golden, asked) };
    return dead === undefined
      ? { reason: `none of its contracts is for ${transport}`, code: INTERNAL_ERROR }
      : { reason: dead, code: INVALID_PARAMS };
  }

  /** The contract of an error with this code whose conditions hold, for requests that break the schema. */
  refusal(params: unknown, transport: TransportName, textOf: TextOf): Chosen | undefined {
    const chosen = this.choose(params, transport, textOf);
    return "golden" in chosen && chosen.golden.conditions ? chosen : undefined;
  }

  /**
   * What makes an error the answer: the places in which its request is another than that of the nearest success.
   * Where the success has an id that lives, the error's stands for any that does not.
   */
  #conditionsOf(leaves: ReadonlyMap<string, unknown>, successes: readonly Golden[]): Condition[] {
    let nearest: Condition[] | undefined;
    for (const success of successes) {
      const conditions: Condition[] = [];
      for (const pointer of new Set([...leaves.keys(), ...success.leaves.keys()])) {
        const own = leaves.get(pointer);
        const other = success.leaves.get(pointer);
        if (leaves.has(pointer) && success.leaves.has(pointer) && JSON.stringify(own) === JSON.stringify(other))
          continue;
        const kind = this.#kindOf(other);
        if (!leaves.has(pointer)) conditions.push({ pointer, holds: "absent", value: undefined });
        else if (kind && this.#mayBeDead(own)) conditions.push({ pointer, holds: "dead", value: own, kind });
        else conditions.push({ pointer, holds: placeholderIn(own) === undefined ? "literal" : "shape", value: own });
      }
      if (nearest === undefined || conditions.length < nearest.length) nearest = conditions;
    }
    // With no success to differ from, it is all of the request that counts.
    nearest ??= [...leaves].map(([pointer, value]) => ({
      pointer,
      holds: placeholderIn(value) === undefined ? "literal" : "shape",
      value,
    }));
    return nearest;
  }

  #kindOf(value: unknown): IdKind | undefined {
    const name = placeholderIn(value);
    return name === undefined ? undefined : this.#ids.kindOf(name);
  }

  #mayBeDead(value: unknown): boolean {
    const name = placeholderIn(value);
    return name === undefined ? typeof value === "string" || typeof value === "number" : !this.#ids.kindOf(name);
  }

  #allHold(conditions: readonly Condition[], asked: ReadonlyMap<string, unknown>, textOf: TextOf): boolean {
    return conditions.every(({ pointer, holds, value, kind }) => {
      if (holds === "absent") return ![...asked.keys()].some((key) => key === pointer || key.startsWith(`${pointer}/`));
      if (!asked.has(pointer)) return false;
      if (holds === "dead") return kind !== undefined && !this.#ids.isLive(kind, textOf(pointer, asked.get(pointer)));
      const own = this.#kindOf(value);
      if (own) return this.#ids.isLive(own, textOf(pointer, asked.get(pointer)));
      if (holds === "shape") return this.#placeholders.accepts(value as string, asked.get(pointer));
      return literalOf(value) === asked.get(pointer) || JSON.stringify(value) === JSON.stringify(asked.get(pointer));
    });
  }

  /** How well the request fits: one for each place that does, one less for each that does not. A dead id does not at all. */
  #score(golden: Golden, asked: ReadonlyMap<string, unknown>, textOf: TextOf): number | string {
    let score = 0;
    for (const [pointer, value] of golden.leaves) {
      if (!asked.has(pointer)) {
        score--;
        continue;
      }
      const came = asked.get(pointer);
      const name = placeholderIn(value);
      const kind = name === undefined ? undefined : this.#ids.kindOf(name);
      if (kind) {
        if (!this.#ids.isLive(kind, textOf(pointer, asked.get(pointer))))
          return `${JSON.stringify(came)} at ${pointer} is no ${name} that was given out and still lives`;
        score++;
      } else if (name === undefined) {
        const same = literalOf(value) === came || JSON.stringify(value) === JSON.stringify(came);
        const dead = golden.conditions?.some(
          (condition) => condition.pointer === pointer && condition.holds === "dead",
        );
        score += same || dead ? 1 : -1;
      } else score += this.#placeholders.accepts(name, came) ? (name === "$any" ? 0.5 : 1) : -1;
    }
    for (const pointer of asked.keys()) if (!golden.leaves.has(pointer)) score--;
    return score;
  }

  #leavesOf(contract: AnsweringContract): Map<string, unknown> {
    return leavesOf(this.#named((contract.request.value as { params?: unknown }).params));
  }

  /** Params by name, where they came by position and the schema names them. */
  #named(params: unknown): unknown {
    const names = this.#schema?.params;
    if (!Array.isArray(params) || names === undefined) return params;
    return Object.fromEntries(params.map((value, index) => [names[index]?.name ?? String(index), value]));
  }
}

function captured(golden: Golden, asked: ReadonlyMap<string, unknown>): Chosen["captured"] {
  const found = new Map<string, { pointer: string; value: unknown }>();
  for (const [pointer, value] of golden.leaves) {
    const name = placeholderIn(value);
    if (name !== undefined && asked.has(pointer)) found.set(name, { pointer, value: asked.get(pointer) });
  }
  return found;
}

/** Every value that holds no other, by pointer, in the order of the text; an empty object or array counts as one. */
export function leavesOf(value: unknown): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  const open: [string, unknown][] = value === undefined ? [] : [["", value]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [pointer, at] = next;
    const members = typeof at === "object" && at !== null ? Object.entries(at) : [];
    if (members.length === 0) {
      if (pointer !== "" || typeof at !== "object") leaves.set(pointer, at);
    } else for (const [key, member] of members.reverse()) open.push([pointer + pointerSegment(key), member]);
  }
  return leaves;
}

/**
 * Errors and timeouts whose request is that of a success: nothing in it says why another answer comes, and a mock
 * cannot give it.
 */
export function indistinct(contracts: readonly Contract[]): AnsweringContract[] {
  const paramsOf = (contract: CallContract | TimeoutContract) =>
    JSON.stringify((contract.request.value as { params?: unknown }).params ?? {});
  const calls = contracts.filter((contract) => contract.kind !== "event" && contract.kind !== "unrecorded");
  return calls.filter(
    (contract) =>
      contract.kind !== "success" &&
      contract.requires === undefined &&
      contract.transport === undefined &&
      contract.authenticated &&
      calls.some(
        (other) =>
          other.kind === "success" && other.method === contract.method && paramsOf(other) === paramsOf(contract),
      ),
  );
}
