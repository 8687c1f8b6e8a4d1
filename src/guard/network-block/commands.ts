import { basename } from "node:path";

/** What a shell takes as it stands. */
const QUOTED = /'[^']*'|"[^"$`\\]*"/g;

/** What of a shell's language makes more of a line than one command with its arguments. */
const MORE_THAN_A_COMMAND = /[;&|<>$`\\(){}\n\r*?[\]#~!]/;

/** Node itself, which carries the block on. */
function isNode(file: string): boolean {
  return file === process.execPath || /^node(\.exe)?$/i.test(basename(file));
}

/**
 * Whether a command may be started: Node may, and what is on the list, by its path or by its name; `*` lets all.
 * @param shellLine what a shell is to run, where it is one
 */
export function allowsCommand(listed: readonly string[], file: string, shellLine: string | undefined): boolean {
  if (listed.includes("*") || isListed(listed, file)) return true;
  if (shellLine === undefined || MORE_THAN_A_COMMAND.test(shellLine.replace(QUOTED, ""))) return false;
  const command = /^\s*(?:"([^"]+)"|'([^']+)'|([^\s"']+))(?=\s|$)/.exec(shellLine);
  return command !== null && isListed(listed, (command[1] ?? command[2] ?? command[3])!);
}

function isListed(listed: readonly string[], file: string): boolean {
  return isNode(file) || listed.includes(file) || listed.includes(basename(file));
}
