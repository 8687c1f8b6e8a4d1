import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { type CassetteFlags, cassetteOptions, cassetteSettings } from "../../src/cli/cassette-options.ts";
import type { CassetteOptions } from "../../src/server/cassette-options.ts";

/** What a command line and an environment come to, and what is said of it. */
function settings(args: string[], environment: NodeJS.ProcessEnv = {}): [CassetteOptions | undefined, string[]] {
  const command = cassetteOptions(new Command().exitOverride().configureOutput({ writeErr: () => {} }));
  command.parse(args, { from: "user" });
  const said: string[] = [];
  return [cassetteSettings(command.opts<CassetteFlags>(), environment, (message) => said.push(message)), said];
}

describe("the mode", () => {
  it("is that of the flag, else of VCR_MODE, else there are no cassettes", () => {
    expect(settings([])[0]).toBeUndefined();
    expect(settings([], { VCR_MODE: "" })[0]).toBeUndefined();
    for (const mode of ["live", "record", "replay", "auto", "once"]) {
      expect(settings(["--vcr", mode])[0]?.mode).toBe(mode);
      expect(settings([], { VCR_MODE: mode.toUpperCase() })[0]?.mode).toBe(mode);
    }
    expect(settings(["--vcr", "replay"], { VCR_MODE: "record" })[0]?.mode).toBe("replay");
  });

  it.each(["auto", "once"])("%s is replay where CI is set, and that is said", (mode) => {
    for (const CI of ["true", "1"]) {
      const [options, said] = settings(["--vcr", mode], { CI });
      expect(options?.mode).toBe("replay");
      expect(said).toEqual([`CI is set: cassettes are replayed (${mode} records only where CI is not set).`]);
      expect(settings([], { CI, VCR_MODE: mode })[0]?.mode).toBe("replay");
    }
    for (const CI of ["", "0", "false", undefined]) {
      expect(settings(["--vcr", mode], { CI })).toEqual([{ mode, raw: true }, []]);
    }
  });

  it("stays where CI is set if it says what it wants", () => {
    expect(settings(["--vcr", "record"], { CI: "true" })).toEqual([{ mode: "record", raw: true }, []]);
    expect(settings(["--vcr", "live"], { CI: "true" })).toEqual([{ mode: "live", raw: true }, []]);
  });

  it("is refused where there is no such mode", () => {
    expect(() => settings(["--vcr", "rewind"])).toThrow("live, record, replay, auto, once");
    expect(() => settings([], { VCR_MODE: "rewind" })).toThrow(
      "VCR_MODE=rewind: expected one of live, record, replay, auto, once.",
    );
  });
});

describe("the flags", () => {
  it("have Fiber's names", () => {
    const args = ["--vcr-speed", "real", "--vcr-chaos", "300", "--vcr-tick", "0", "--vcr-traces", "checkout:ab,cd"];
    expect(settings(["--vcr", "replay", ...args])[0]).toEqual({
      mode: "replay",
      raw: true,
      speed: "real",
      chaosLatencyMs: 300,
      tickMs: 0,
      traces: "checkout:ab,cd",
    });
  });

  it("say what becomes of recordings", () => {
    const args = ["--cassettes", "tapes", "--scenario", "a b", "--match", "position", "--max-age", "720h", "--prune"];
    expect(settings(["--vcr", "auto", "--traces", "ab", "--no-raw", ...args])[0]).toEqual({
      mode: "auto",
      raw: false,
      folder: "tapes",
      scenario: "a b",
      match: "position",
      maxAgeMs: 720 * 60 * 60 * 1000,
      prune: true,
      traces: "ab",
    });
  });

  it.each([
    ["max", "max"],
    ["real", "real"],
    ["0.5", 0.5],
    ["20", 20],
  ])("take %s for a speed", (text, speed) => {
    expect(settings(["--vcr", "replay", "--vcr-speed", text])[0]?.speed).toBe(speed);
  });

  it.each([
    ["--vcr-speed", "0"],
    ["--vcr-speed", "-1"],
    ["--vcr-speed", "fast"],
    ["--vcr-speed", ""],
    ["--vcr-chaos", "1.5"],
    ["--vcr-tick", "soon"],
    ["--match", "loosely"],
    ["--max-age", "old"],
  ])("refuse %s %s", (flag, value) => {
    expect(() => settings(["--vcr", "replay", `${flag}=${value}`])).toThrow();
  });

  it.each([
    ["0", false],
    ["false", false],
    ["1", true],
    ["true", true],
    [undefined, true],
  ])("with VCR_INCLUDE_RAW=%s the raw layer is kept: %s", (value, raw) => {
    const environment = { ...(value !== undefined && { VCR_INCLUDE_RAW: value }) };
    expect(settings(["--vcr", "record"], environment)[0]?.raw).toBe(raw);
    expect(settings(["--vcr", "record", "--no-raw"], environment)[0]?.raw).toBe(false);
  });
});
