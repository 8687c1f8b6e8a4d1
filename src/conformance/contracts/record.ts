import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createRedactor, type RedactionOptions, type Redactor } from "../../guard/redact.ts";
import { TimerClock } from "../../state/clock.ts";
import { writeWholeFile } from "../../transport/whole-file.ts";
import { pointerSegment } from "../../wire/json-pointer.ts";
import { memberText } from "../../wire/json-rpc.ts";
import { childrenAt, kindAt, rootSpan } from "../../wire/json-text.ts";
import { SuiteError } from "../errors.ts";
import { secretsIn } from "../secrets.ts";
import type { Target } from "../target.ts";
import type { Contract, SuiteSettings } from "./contract.ts";
import { BLANK } from "./lint.ts";
import { isNamed, type Suite } from "./load.ts";
import type { Placeholders } from "./placeholders.ts";
import { askContract, type RunOptions } from "./run.ts";
import { sampleOf } from "./sample.ts";
import type { MethodSchema, ServiceSchema } from "./service-schema.ts";
import { sameValue } from "./shape.ts";
import { compact, makeTemplate, placeholderIn, textAt, valueAt } from "./template.ts";
import type { VerifyContractsOptions } from "./verify.ts";

export interface RecordedContract {
  id: string;
  file: string;
  /** Why nothing was written; empty where it was. */
  failed: readonly string[];
  /** What the author has to look at. */
  notes: readonly string[];
}

/** Elements of a list that are kept: a golden file shows a shape, not a database. */
const MOST_ELEMENTS = 3;
/** Shorter strings without a space are words as often as tokens. */
const SHORTEST_TOKEN = 16;

/**
 * Asks a live service twice and writes golden messages. What came the same both times stays; what did not becomes a
 * placeholder, and what a set-up call bound becomes its name.
 *
 * @param names contracts, or methods that have none yet; without any, every contract that lacks its response
 * @throws SuiteError for a name that is neither; TransportError when the target cannot be reached
 */
export async function recordContracts(
  suite: Suite,
  target: Target,
  names: readonly string[],
  options: Pick<VerifyContractsOptions, "transport" | "responseTimeoutMs" | "stopGraceMs"> & {
    /** What is no part of a golden message. */
    redact?: RedactionOptions | undefined;
  },
): Promise<RecordedContract[]> {
  const chosen =
    names.length === 0 ? suite.contracts.filter(({ kind }) => kind === "unrecorded") : namedIn(suite, names);
  if (chosen.length === 0)
    throw new SuiteError([
      {
        file: suite.root,
        message: "every contract has its response; name those to record anew, or methods that have none.",
      },
    ]);
  const run: RunOptions = {
    transport: options.transport,
    clock: new TimerClock(),
    random: Math.random,
    responseTimeoutMs: options.responseTimeoutMs ?? 20_000,
    settleMs: 0,
    stopGraceMs: options.stopGraceMs ?? 2_000,
    env: process.env,
  };
  const redactor = await createRedactor(options.redact);
  const recorded: RecordedContract[] = [];
  for (const contract of chosen) {
    const first = await askContract(contract, suite, target, run);
    const second = first.text === undefined ? first : await askContract(contract, suite, target, run);
    const failed = [...first.differences, ...(second === first ? [] : second.differences)].map(
      ({ detail, got }) => `${detail}${got && `: ${got}`}`,
    );
    const notes: string[] = [];
    if (first.text !== undefined && second.text !== undefined) {
      const golden = new Golden(
        first.text,
        second.text,
        first.bound,
        second.bound,
        suite.placeholders,
        redactor,
        notes,
      );
      await write(contract, golden.text());
    }
    recorded.push({ id: contract.id, file: contract.file, failed, notes });
  }
  return recorded;
}

function namedIn(suite: Suite, names: readonly string[]): Contract[] {
  const unknown: string[] = [];
  const chosen = names.flatMap((name): Contract[] => {
    const there = suite.contracts.filter((contract) => isNamed(contract, name));
    if (there.length > 0) return there;
    const method = suite.schema?.methods.get(name);
    if (!method || !suite.schema) {
      unknown.push(name);
      return [];
    }
    const params = method.examples[0]?.params ?? sampledParams(suite.schema, method);
    const risk = actsAtOnce(params, suite.settings.startModes);
    if (risk !== undefined)
      throw new SuiteError([
        {
          file: suite.root,
          message: `${name} would be asked with ${risk}, which acts at once: write its request by hand.`,
        },
      ]);
    const request = { jsonrpc: "2.0", id: 1, method: name, ...(params === undefined ? {} : { params }) };
    const text = JSON.stringify({
      name: `${BLANK}: ${name}`,
      description: `${BLANK}: why is this case worth pinning?`,
      request,
    });
    const id = `${name.replace(/[^\w.-]/g, "_")}.json`;
    const base = {
      id,
      file: join(suite.root, id),
      text,
      name,
      description: "",
      transport: undefined,
      requires: undefined,
      authenticated: true,
      setup: undefined,
    };
    return [
      { ...base, kind: "unrecorded", method: name, assertions: [], request: makeTemplate(JSON.stringify(request)) },
    ];
  });
  if (unknown.length > 0)
    throw new SuiteError(
      unknown.map((name) => ({
        file: suite.root,
        message: `"${name}" is no contract of the suite and no method of its schema.`,
      })),
    );
  return chosen;
}

/** Params that nobody wrote, with what has to be there and nothing else: what is left out does the least. */
function sampledParams(schema: ServiceSchema, method: MethodSchema): unknown {
  const positional = method.structure === "by-position";
  const described = schema.schemaOf(method, "params", positional);
  if (described === undefined) return undefined;
  const sample = sampleOf(described, schema.document, Math.random);
  if (Array.isArray(sample)) return sample.filter((_, index) => method.params?.[index]?.required);
  const own = method.paramsPointer === undefined ? described : valueAt(schema.document, method.paramsPointer);
  const required = (own as { required?: string[] }).required ?? [];
  return Object.fromEntries(Object.entries(sample as object).filter(([name]) => required.includes(name)));
}

/** A start mode in params that makes a real server act at once; undefined where there is none. */
function actsAtOnce(params: unknown, startModes: SuiteSettings["startModes"]): string | undefined {
  if (typeof params !== "object" || params === null) return undefined;
  for (const [name, value] of Object.entries(params)) {
    if (startModes[name]?.includes(value)) return `${name} ${JSON.stringify(value)}`;
    const inside = actsAtOnce(value, startModes);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

/** Everything that the file says stays as it was written, but what was recorded. */
async function write(contract: Contract, golden: string): Promise<void> {
  const member = contract.kind === "event" ? "notification" : "response";
  const { text } = contract;
  const members = childrenAt(text, rootSpan(text).start).filter(({ key }) => key !== member);
  const at = members.findIndex(({ key }) => key === "request") + 1;
  const parts = members.map(({ key, start, end }) => `${JSON.stringify(key)}:${text.slice(start, end)}`);
  parts.splice(at > 0 ? at : parts.length, 0, `${JSON.stringify(member)}:${golden}`);
  for (const blank of ["description", "name"])
    if (memberText(text, blank) === undefined) parts.unshift(`"${blank}":"${BLANK}"`);
  await mkdir(dirname(contract.file), { recursive: true });
  await writeWholeFile(contract.file, `${indent(compact(`{${parts.join(",")}}`))}\n`);
}

/** Two messages that answer the same request, as one golden one. */
class Golden {
  private readonly first: string;
  private readonly second: string;
  private readonly bound: readonly [string, string, string][];
  private readonly placeholders: Placeholders;
  private readonly redactor: Redactor;
  private readonly notes: string[];
  /** Pointers to what is one by its name, or because the user says so. */
  private readonly secrets: ReadonlySet<string>;

  constructor(
    first: string,
    second: string,
    firstBound: ReadonlyMap<string, string>,
    secondBound: ReadonlyMap<string, string>,
    placeholders: Placeholders,
    redactor: Redactor,
    notes: string[],
  ) {
    this.first = first;
    this.second = second;
    this.bound = [...firstBound].flatMap(([name, text]) => {
      const other = secondBound.get(name);
      return other === undefined ? [] : [[name, text, other] as [string, string, string]];
    });
    this.placeholders = placeholders;
    this.redactor = redactor;
    this.notes = notes;
    this.secrets = new Set(secretsIn(first, redactor).map(({ pointer }) => pointer));
  }

  text(): string {
    return this.value(JSON.parse(this.first), JSON.parse(this.second), "");
  }

  private value(one: unknown, other: unknown, pointer: string): string {
    if (this.secrets.has(pointer)) return this.masked(one);
    const name = this.bound.find(
      ([, first, second]) =>
        sameValue(first, one, () => textAt(this.first, pointer)) &&
        sameValue(second, other, () => textAt(this.second, pointer)),
    )?.[0];
    if (name !== undefined && pointer !== "/id") return JSON.stringify(name);
    if (Array.isArray(one)) {
      const others = Array.isArray(other) ? other : [];
      return `[${one
        .slice(0, MOST_ELEMENTS)
        .map((element, index) => this.value(element, others[index] ?? element, `${pointer}/${index}`))
        .join(",")}]`;
    }
    if (typeof one === "object" && one !== null) {
      const others = (typeof other === "object" && other !== null ? other : {}) as Record<string, unknown>;
      const members = Object.entries(one).map(([key, value]) => {
        const at = pointer + pointerSegment(key);
        if (!Object.hasOwn(others, key)) this.notes.push(`${at} came in one of two runs only`);
        return `${JSON.stringify(key)}:${this.value(value, others[key] ?? value, at)}`;
      });
      for (const key of Object.keys(others))
        if (!Object.hasOwn(one, key)) this.notes.push(`${pointer}${pointerSegment(key)} came in one of two runs only`);
      return `{${members.join(",")}}`;
    }
    return this.leaf(one, other, pointer);
  }

  private masked(secret: unknown): string {
    return this.placeholders.accepts("$opaque", secret) ? '"$opaque"' : '"$any"';
  }

  private leaf(one: unknown, other: unknown, pointer: string): string {
    if (typeof one === "string" && this.redactor.call().text(one, "response") !== one) return this.masked(one);
    if (JSON.stringify(one) === JSON.stringify(other)) {
      if (placeholderIn(one) !== undefined) return JSON.stringify(`$${one}`);
      return typeof one === "number" ? (textAt(this.first, pointer) ?? String(one)) : JSON.stringify(one);
    }
    const both = (name: string) => this.placeholders.accepts(name, one) && this.placeholders.accepts(name, other);
    if (both("$uuid")) return '"$uuid"';
    if (both("$isoDate")) return '"$isoDate"';
    if (both("$opaque") && String(one).length >= SHORTEST_TOKEN) return '"$opaque"';
    this.notes.push(`${pointer} differed in two runs, and is $any now`);
    return '"$any"';
  }
}

/** JSON text with a line for each member, every value spelled as it was. */
function indent(json: string, depth = 0): string {
  const kind = kindAt(json, 0);
  const children = childrenAt(json, 0);
  if (children.length === 0) return json;
  const inner = "  ".repeat(depth + 1);
  const lines = children.map(({ key, start, end }) => {
    const value = indent(json.slice(start, end), depth + 1);
    return `${inner}${kind === "object" ? `${JSON.stringify(key)}: ` : ""}${value}`;
  });
  const [open, close] = kind === "object" ? "{}" : "[]";
  return `${open}\n${lines.join(",\n")}\n${"  ".repeat(depth)}${close}`;
}
