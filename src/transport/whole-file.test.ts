import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeWholeFile, writeWholeFileSync } from "./whole-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stuntdouble-file-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ways = {
  writeWholeFile,
  writeWholeFileSync: async (file: string, content: string | Uint8Array) => writeWholeFileSync(file, content),
};

describe.each(Object.entries(ways))("%s", (_, write) => {
  it("writes what is new and what is there, with its mode", async () => {
    const file = join(folder, "a.json");
    await write(file, "one");
    expect(readFileSync(file, "utf8")).toBe("one");
    chmodSync(file, 0o604);
    await write(file, Buffer.from("two"));
    expect(readFileSync(file, "utf8")).toBe("two");
    expect(statSync(file).mode & 0o777).toBe(0o604);
    expect(readdirSync(folder)).toEqual(["a.json"]);
  });

  it("writes through a link", async () => {
    writeFileSync(join(folder, "a.json"), "one");
    const link = join(folder, "link.json");
    symlinkSync("a.json", link);
    await write(link, "two");
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, "a.json"), "utf8")).toBe("two");
  });

  it("leaves nothing where it cannot write", async () => {
    await expect(write(join(folder, "none", "a.json"), "one")).rejects.toThrow("ENOENT");
    expect(readdirSync(folder)).toEqual([]);
  });
});

it("writeWholeFile gives a file the mode that is asked for", async () => {
  const file = join(folder, "key.pem");
  await writeWholeFile(file, "secret", 0o600);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
