import { afterAll, afterEach, beforeAll } from "vitest";
import { StuntDouble, type StuntDoubleOptions } from "../../src/index.ts";

/** One double for all tests of a file or a group: it listens from before the first, and each finds it as new. */
export function sharedDouble(options: StuntDoubleOptions = {}): StuntDouble {
  const double = new StuntDouble(options);
  beforeAll(() => double.start());
  afterEach(() => double.reset());
  afterAll(() => double.stop());
  return double;
}
