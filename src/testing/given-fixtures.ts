import { loadFixturesAsync } from "../fixtures/load.ts";
import type { Fixture } from "../fixtures/types.ts";

/** Fixtures, or paths and URLs of their files. */
export type GivenFixtures = string | readonly (string | Fixture)[];

/** @throws {FixtureError} with every fault of every file */
export async function fixturesOf(given: GivenFixtures): Promise<Fixture[]> {
  const list = typeof given === "string" ? [given] : given;
  const loaded = await Promise.all(list.map((item) => (typeof item === "string" ? loadFixturesAsync(item) : [item])));
  return loaded.flat();
}
