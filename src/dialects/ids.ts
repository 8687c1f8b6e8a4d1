/**
 * One of the ids that the reply to a call makes.
 * @param stem what all of them have in common
 */
export function numberedId(prefix: string, stem: string, number: number): string {
  return `${prefix}${stem}${number.toString(36).padStart(4, "0")}`;
}

/** What an id has in common with all others of its reply; of an id from elsewhere it is nothing in particular. */
export function stemOf(id: string): string {
  return id.slice(id.indexOf("_") + 1, -4);
}
