/** Where a report goes. */
export interface Output {
  write(text: string): void;
  /** Whether lines can be written over. */
  terminal: boolean;
  colors: boolean;
}

/** The process's own output. Colours follow the terminal, `NO_COLOR` and `FORCE_COLOR` (https://no-color.org). */
export function standardOutput(stream: NodeJS.WriteStream = process.stdout): Output {
  const terminal = stream.isTTY === true;
  const forced = process.env["FORCE_COLOR"];
  const colors = process.env["NO_COLOR"] ? false : forced !== undefined ? forced !== "0" : terminal;
  return { write: (text) => void stream.write(text), terminal, colors };
}
