import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { generate } from "../../conformance/contracts/generate.ts";
import { EXIT_PASSED } from "../../report/verdict.ts";
import { writeWholeFile } from "../../transport/whole-file.ts";
import { UsageError } from "../run-verb.ts";

export async function generateFiles(schemaFile: string, folder: string): Promise<number> {
  const text = await readFile(schemaFile, "utf8").catch((error: Error) => {
    throw new UsageError(`${schemaFile} cannot be read: ${error.message}.`);
  });
  let files: Awaited<ReturnType<typeof generate>>;
  try {
    files = await generate(JSON.parse(text));
  } catch (error) {
    throw new UsageError(`${schemaFile}: ${(error as Error).message}.`);
  }
  await mkdir(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    await writeWholeFile(join(folder, name), content);
    process.stdout.write(`${join(folder, name)}\n`);
  }
  return EXIT_PASSED;
}
