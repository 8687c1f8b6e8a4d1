const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Numbers from 0 up to 1, the same ones for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A 32-bit hash (FNV-1a), good enough to seed with; no secret. */
export function hashOf(text: string, seed = 0x811c9dc5): number {
  let state = seed;
  for (let index = 0; index < text.length; index++) state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
  return state >>> 0;
}

/** Letters and digits drawn from `random`. */
export function drawLetters(count: number, random: () => number): string {
  let letters = "";
  for (let index = 0; index < count; index++) letters += ALPHABET[Math.floor(random() * ALPHABET.length)];
  return letters;
}
