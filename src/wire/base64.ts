const NOT_BASE64 = /[^A-Za-z0-9+/]/;

/**
 * Where a text stops being base64 (RFC 4648, with its padding), or -1 if it is all base64. It is searched for what
 * is wrong, since a pattern for what is right can overflow on images of many megabytes.
 */
export function notBase64At(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const wrong = NOT_BASE64.exec(padding === 0 ? text : text.slice(0, -padding));
  if (wrong !== null) return wrong.index;
  return text.length % 4 === 0 ? -1 : text.length - (text.length % 4);
}

const ANY_KIND = /^[\w+/-]*={0,2}$/;

/** Whether a text is base64 in one of its alphabets, with or without padding, as Google takes it. */
export function isBase64OfAnyKind(text: string): boolean {
  return ANY_KIND.test(text);
}
