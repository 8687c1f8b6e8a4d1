/**
 * The arguments of a tool call as a value, for APIs that have them so; none are an empty object. Broken JSON is
 * given as text, so that whoever tests for it sees it.
 */
export function parseArguments(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
