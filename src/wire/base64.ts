// Both search for what is wrong, since a pattern for what is right can overflow on images of many megabytes.
const ODD = /[^A-Za-z0-9+/_=\s-]/g;
const NOT_STRICT = /[^A-Za-z0-9+/]/;

/**
 * Where a text stops being base64 as most providers' decoders take it, or -1 if it is all base64: of either alphabet,
 * padded or not, with white space in it.
 */
export function notBase64At(text: string, from = 0): number {
  ODD.lastIndex = from;
  return ODD.exec(text)?.index ?? -1;
}

/** The same for decoders that keep to RFC 4648: one alphabet, padded, nothing else. */
export function notStrictBase64At(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const wrong = NOT_STRICT.exec(padding === 0 ? text : text.slice(0, -padding));
  if (wrong !== null) return wrong.index;
  return text.length % 4 === 0 ? -1 : text.length - (text.length % 4);
}

const DATA_URL = /^data:[^,]*;base64,/i;

/** Whether a URL says of itself that base64 follows, and something else does. */
export function isBrokenDataUrl(url: string): boolean {
  const head = DATA_URL.exec(url);
  return head !== null && notBase64At(url, head[0].length) >= 0;
}
