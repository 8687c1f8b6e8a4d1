import type { PlaceholderDefinition } from "./contract.ts";
import { type Random, sampleOf, token, uuid } from "./sample.ts";
import { compileSchema, type ValueSchema } from "./service-schema.ts";

interface BuiltIn {
  /** To complete "expected …". */
  means: string;
  accepts(value: unknown): boolean;
  make(random: Random, wallMs: number): unknown;
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

const BUILT_IN: Readonly<Record<string, BuiltIn>> = {
  $uuid: {
    means: "a UUID",
    accepts: (value) => typeof value === "string" && UUID.test(value),
    make: uuid,
  },
  $isoDate: {
    means: "a date and time as RFC 3339 has it",
    accepts: (value) => typeof value === "string" && isDateTime(value),
    make: (_, wallMs) => new Date(wallMs).toISOString(),
  },
  $opaque: {
    means: "a token: at least 8 characters without a space",
    accepts: (value) => typeof value === "string" && /^[\x21-\x7e]{8,}$/.test(value),
    make: token,
  },
  $any: { means: "any value", accepts: () => true, make: () => "any" },
};

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-](\d\d):(\d\d))$/;

/** RFC 3339, 5.6 (https://www.rfc-editor.org/rfc/rfc3339#section-5.6): a day that there is, and a zone. */
export function isDateTime(text: string): boolean {
  const match = DATE_TIME.exec(text);
  if (!match) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  const last = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  return (
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= last &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 60 &&
    zoneHour <= 23 &&
    zoneMinute <= 59
  );
}

function builtIn(name: string): BuiltIn | undefined {
  return Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
}

/** What the placeholders of a suite stand for by their shape. What one is bound to is another matter. */
export class Placeholders {
  readonly #definitions: ReadonlyMap<string, PlaceholderDefinition>;
  readonly #schemas: ReadonlyMap<string, ValueSchema>;

  constructor(definitions: ReadonlyMap<string, PlaceholderDefinition>, schemas: ReadonlyMap<string, ValueSchema>) {
    this.#definitions = definitions;
    this.#schemas = schemas;
  }

  static async of(definitions: ReadonlyMap<string, PlaceholderDefinition>): Promise<Placeholders> {
    const schemas = new Map<string, ValueSchema>();
    for (const [name, { schema }] of definitions)
      if (schema !== undefined) schemas.set(name, await compileSchema(schema));
    return new Placeholders(definitions, schemas);
  }

  /** Whether it is one of the format's, or the suite says what it is. */
  knows(name: string): boolean {
    return Object.hasOwn(BUILT_IN, name) || this.#definitions.has(name);
  }

  isBuiltIn(name: string): boolean {
    return Object.hasOwn(BUILT_IN, name);
  }

  accepts(name: string, value: unknown): boolean {
    return builtIn(name)?.accepts(value) ?? this.#schemas.get(name)?.accepts(value) ?? true;
  }

  /** To complete "expected …". */
  meaning(name: string): string {
    return builtIn(name)?.means ?? `what ${name} stands for`;
  }

  /** Whether anything is said of its shape. */
  hasShape(name: string): boolean {
    const definition = this.#definitions.get(name);
    return Object.hasOwn(BUILT_IN, name) || definition?.schema !== undefined || definition?.example !== undefined;
  }

  /** A value of its shape. An example is given only where nothing new can be made. */
  make(name: string, random: Random, wallMs: number): unknown {
    const own = builtIn(name);
    if (own) return own.make(random, wallMs);
    const { schema, example } = this.#definitions.get(name) ?? {};
    const made = schema === undefined ? undefined : sampleOf(schema, schema, random);
    if (made !== undefined && this.accepts(name, made)) return made;
    return example ?? made ?? uuid(random);
  }

  deletedBy(name: string): readonly string[] | undefined {
    return this.#definitions.get(name)?.deletedBy;
  }

  changedBy(name: string): readonly string[] | undefined {
    return this.#definitions.get(name)?.changedBy;
  }
}
