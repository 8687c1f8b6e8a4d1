import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { callOf } from "../dialects/call.ts";
import { httpOperation } from "../dialects/http.ts";
import type { Call } from "../dialects/operation.ts";
import { RawRequest } from "../dialects/raw-request.ts";
import { ConvertError, type Converted, type FindOperation, type SourceFile } from "../fixtures/convert/converted.ts";
import { readHar } from "../fixtures/convert/har.ts";
import { convertMockLlm } from "../fixtures/convert/mock-llm.ts";
import { convertRecordings, type RecordedCall } from "../fixtures/convert/recordings.ts";
import { readVcrpy } from "../fixtures/convert/vcrpy.ts";
import { convertVidaiMock } from "../fixtures/convert/vidaimock.ts";
import { convertWireMock } from "../fixtures/convert/wiremock.ts";
import { lintFixtures } from "../fixtures/lint.ts";
import { faultsOf, parseFixtures } from "../fixtures/load.ts";
import type { Fixture } from "../fixtures/types.ts";
import { createRedactor, type Redactor } from "../guard/redact.ts";
import { Router } from "../server/router.ts";
import { dialects } from "../services/registry.ts";
import { LocalMemory } from "../state/memory.ts";
import { providerOfHost } from "../upstream/providers.ts";
import { type RedactFlags, redactionSettings } from "./redact-options.ts";
import { UsageError } from "./run-verb.ts";

export type ConvertedTool = "aimock" | "mockllm" | "vidaimock" | "wiremock" | "vcrpy" | "har";

/** The endings of each tool's files; those of templates too. */
const FILES: Record<ConvertedTool, RegExp> = {
  aimock: /\.(jsonc?|ya?ml)$/,
  mockllm: /\.(ya?ml|json)$/,
  vidaimock: /\.(ya?ml|j2|tera|json)$/,
  wiremock: /\.json$/,
  vcrpy: /\.(ya?ml|json)$/,
  har: /\.(har|json)$/,
};

/**
 * Converts files and prints what was lost.
 * @returns the exit code: 0 also where something was lost, since it was said
 * @throws {UsageError} when there is nothing to convert, or a file is not of that tool
 */
export async function convert(tool: ConvertedTool, from: string, to: string, flags: RedactFlags = {}): Promise<number> {
  const sources = filesOf(from, FILES[tool]);
  if (sources.length === 0) throw new UsageError(`${from}: there is no file of ${tool} in it.`);
  const redactor = await createRedactor(await redactionSettings(flags));
  try {
    const written =
      tool === "vidaimock"
        ? [[{ ...sources[0]!, name: "vidaimock" }, sources] as const]
        : sources.map((source) => [source, [source]] as const);
    const results = written.map(([named, files]) => ({
      name: named.name,
      ...usable(convertFiles(tool, files, from, redactor)),
    }));
    return write(results, from, to);
  } catch (error) {
    if (error instanceof ConvertError) throw new UsageError(error.message);
    throw error;
  }
}

function filesOf(path: string, ending: RegExp): SourceFile[] {
  try {
    const names = statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true, encoding: "utf8" })
          .filter((name) => ending.test(name) && !/(^|\/)__files\//.test(name))
          .sort()
          .map((name) => join(path, name))
      : [path];
    return names.map((name) => ({ name, text: readFileSync(name, "utf8") }));
  } catch (error) {
    throw new UsageError(`${path}: cannot be read: ${(error as Error).message}`);
  }
}

function convertFiles(tool: ConvertedTool, files: readonly SourceFile[], root: string, redactor: Redactor): Converted {
  const [file] = files as [SourceFile];
  switch (tool) {
    case "aimock":
      return aimock(file);
    case "mockllm":
      return convertMockLlm(file, findOperation());
    case "vidaimock":
      return convertVidaiMock(files, findOperation());
    case "wiremock":
      return convertWireMock(file, findOperation(), (name) => bodyFile(root, file.name, name));
    case "vcrpy":
      return recordings(readVcrpy(file), redactor);
    case "har":
      return recordings(readHar(file), redactor);
  }
}

/** aimock's files are read as they are; what is written has one form of them. */
function aimock({ name, text }: SourceFile): Converted {
  const { fixtures, faults } = parseFixtures(text, name);
  if (faults.length > 0) {
    throw new ConvertError(faults.map(({ line, message }) => `${name}:${line ?? 1}: ${message}`).join("\n"));
  }
  return { fixtures, losses: [] };
}

/** WireMock has bodies in `__files`, beside `mappings`. */
function bodyFile(root: string, mapping: string, name: string): string | undefined {
  for (const folder of [root, dirname(root), dirname(mapping), dirname(dirname(mapping))]) {
    const inside = relative("__files", join("__files", name));
    if (inside.startsWith("..")) return undefined;
    try {
      return readFileSync(join(folder, "__files", inside), "utf8");
    } catch {
      // It may be in another one.
    }
  }
  return undefined;
}

function findOperation(): FindOperation {
  const router = new Router(dialects);
  return (method, path) => router.find(new RawRequest(method, path, {}, new Uint8Array(0)))?.operation;
}

function recordings(calls: readonly RecordedCall[], redactor: Redactor): Converted {
  const router = new Router(dialects);
  const decode = (raw: RawRequest, host: string): { call: Call; provider: string } => {
    const provider = providerOfHost(host) ?? "other";
    // Providers that share a path are told apart by the host that it was sent to.
    const named = new RawRequest(raw.method, `/${provider}${raw.url}`, raw.headers, raw.body);
    const memory = new LocalMemory();
    const operation = (provider === "openai" || provider === "other" ? undefined : router.find(named))?.operation;
    const known = operation ?? router.find(raw)?.operation;
    const asked = operation === undefined ? raw : named;
    try {
      return { call: callOf(known ?? httpOperation, asked, memory), provider };
    } catch {
      // Its provider may have taken what its dialect here refuses.
      return { call: callOf(httpOperation, asked, memory), provider };
    }
  };
  return convertRecordings(calls, { redactor, decode });
}

/** Without what the loader would refuse, and without what could never answer. */
function usable({ fixtures, losses }: Converted): Converted {
  const said = [...losses];
  const sound = fixtures.filter((fixture) => {
    const [fault] = faultsOf({ fixtures: [fixture] });
    if (fault !== undefined) said.push(`${nameOf(fixture)} is left out: ${fault.pointer}: ${fault.message}`);
    return fault === undefined;
  });
  const dead = new Map(
    lintFixtures(sound)
      .filter(({ rule }) => rule === "shadowed" || rule === "other-kind")
      .map(({ fixture, message }) => [fixture, message]),
  );
  for (const [fixture, message] of dead) said.push(`${nameOf(fixture)} is left out: ${message}`);
  return { fixtures: sound.filter((fixture) => !dead.has(fixture)), losses: said };
}

function nameOf({ id, match }: Fixture): string {
  const { userMessage, inputText, model, endpoint } = match;
  return `The fixture ${id ?? JSON.stringify({ endpoint, model, userMessage, inputText })}`;
}

function write(results: readonly ({ name: string } & Converted)[], from: string, to: string): number {
  const fixtures = results.flatMap((result) => result.fixtures);
  const losses = results.flatMap((result) => result.losses);
  for (const loss of losses) process.stderr.write(`${loss}\n`);
  const files = to.endsWith(".json")
    ? [[to, fixtures] as const]
    : results
        .filter((result) => result.fixtures.length > 0)
        .map((result) => [join(to, `${plainName(result.name, from)}.json`), result.fixtures] as const);
  if (fixtures.length > 0) for (const [file, list] of files) save(file, list);
  const count = `${fixtures.length} ${fixtures.length === 1 ? "fixture" : "fixtures"}`;
  process.stdout.write(`${count} written to ${to}${losses.length > 0 ? `; ${losses.length} remarks above` : ""}\n`);
  // Nothing came of it, which nobody wants.
  return fixtures.length > 0 ? 0 : 1;
}

/** Of files in folders, the folders too, so that none is written over another. */
function plainName(name: string, from: string): string {
  const inside = name.startsWith(from) && name !== from ? relative(from, name) : basename(name);
  return inside.replace(/\.[^./]+$/, "");
}

function save(file: string, fixtures: readonly Fixture[]): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify({ fixtures }, null, 2)}\n`);
  } catch (error) {
    throw new UsageError(`${file}: cannot be written: ${(error as Error).message}`);
  }
}
