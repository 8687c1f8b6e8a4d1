/** The same text again and again, as a model that has lost its way writes it. */
export interface RepeatedTextLimit {
  /** How often in a row it may come. */
  times: number;
  /** Characters of the text that is repeated, at least; 20 unless given. */
  minCharacters?: number;
}

/** Longer texts are not looked for. */
const LONGEST_UNIT = 1000;

/** Finds out when a text has come to repeat itself too often. */
export class RepeatedText {
  readonly #times: number;
  readonly #least: number;
  /** Characters of a block: short enough for one to be whole in every unit. */
  readonly #size: number;
  #text = "";
  /** Blocks of the text before this one have been looked at with all that follows them. */
  #block = 0;

  constructor({ times, minCharacters = 20 }: RepeatedTextLimit) {
    this.#times = times;
    this.#least = minCharacters;
    this.#size = (minCharacters + 1) >> 1;
  }

  /** @returns whether some text has come more than so many times in a row */
  push(piece: string): boolean {
    this.#text += piece;
    const size = this.#size;
    // Of a text that is repeated, a block has come before, a period ago.
    while (this.#block + size <= this.#text.length) {
      if (this.#repeatsAround(this.#block)) return true;
      // The last whole block is looked at again: what it is part of may go on.
      if (this.#block + 2 * size > this.#text.length) break;
      this.#block += size;
    }
    this.#forget();
    return false;
  }

  #repeatsAround(block: number): boolean {
    const text = this.#text;
    const part = text.slice(block, block + this.#size);
    let run = { period: 0, start: 0 };
    let before = block > 0 ? text.lastIndexOf(part, block - 1) : -1;
    for (
      ;
      before >= 0 && block - before <= LONGEST_UNIT;
      before = before > 0 ? text.lastIndexOf(part, before - 1) : -1
    ) {
      const period = block - before;
      // Several periods of a text that repeats itself are no longer than one, and walking it for each takes long.
      if (before >= run.start && period % run.period === 0) continue;
      let end = block + this.#size;
      while (end < text.length && text[end] === text[end - period]) end++;
      let start = before;
      while (start > 0 && text[start - 1] === text[start - 1 + period]) start--;
      // What is shorter than the least counts together with its neighbours.
      const unit = period * Math.ceil(this.#least / period);
      if (end - start >= unit * (this.#times + 1)) return true;
      run = { period, start };
    }
    return false;
  }

  #forget(): void {
    const kept = LONGEST_UNIT * (this.#times + 2);
    if (this.#text.length < 2 * kept) return;
    const dropped = Math.floor((this.#text.length - kept) / this.#size) * this.#size;
    this.#text = this.#text.slice(dropped);
    this.#block = Math.max(0, this.#block - dropped);
  }
}
