/** Time as the product sees it; tests put their own in its place. */
export interface Clock {
  /** Milliseconds since some fixed moment; never goes back. */
  now(): number;
  /** Unix time in milliseconds. */
  wall(): number;
  /** Calls once, at or after a moment of `now()`. Gives what cancels it. */
  at(moment: number, run: () => void): () => void;
}

interface Alarm {
  moment: number;
  run: (() => void) | undefined;
}

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * The machine's clock. All alarms share one timer: thousands of paced streams would otherwise make and drop a
 * timer for each chunk.
 */
export class SystemClock implements Clock {
  // A binary heap, the earliest alarm first.
  readonly #heap: Alarm[] = [];
  #timer: NodeJS.Timeout | undefined;
  #timerMoment = Number.POSITIVE_INFINITY;

  now(): number {
    return performance.now();
  }

  wall(): number {
    return Date.now();
  }

  at(moment: number, run: () => void): () => void {
    const alarm: Alarm = { moment, run };
    this.#push(alarm);
    if (moment < this.#timerMoment) this.#arm(moment);
    return () => {
      alarm.run = undefined;
    };
  }

  #arm(moment: number): void {
    clearTimeout(this.#timer);
    this.#timerMoment = moment;
    // Node rings at once for what is longer than this; the alarm is looked at again when it has passed.
    this.#timer = setTimeout(this.#ring, Math.min(LONGEST_TIMEOUT_MS, Math.max(0, moment - this.now())));
  }

  readonly #ring = (): void => {
    this.#timerMoment = Number.POSITIVE_INFINITY;
    const now = this.now();
    for (let next = this.#heap[0]; next !== undefined; next = this.#heap[0]) {
      if (next.run !== undefined && next.moment > now) break;
      this.#pop();
      next.run?.();
    }
    const next = this.#heap[0];
    if (next !== undefined && next.moment < this.#timerMoment) this.#arm(next.moment);
  };

  #push(alarm: Alarm): void {
    const heap = this.#heap;
    let index = heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (heap[parent]!.moment <= alarm.moment) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = alarm;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = index * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.moment < heap[child]!.moment) child++;
      if (heap[child]!.moment >= last.moment) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

/**
 * The machine's clock with a timer for each alarm, so that one that was cancelled keeps no process alive: a command
 * that waited 20 s at most for an answer would otherwise end 20 s after it.
 */
export class TimerClock implements Clock {
  now(): number {
    return performance.now();
  }

  wall(): number {
    return Date.now();
  }

  at(moment: number, run: () => void): () => void {
    const left = Math.min(LONGEST_TIMEOUT_MS, Math.max(0, moment - this.now()));
    const timer = setTimeout(() => {
      // Node's timers may ring a fraction of a millisecond early, and those beyond the longest do so at once.
      if (moment - this.now() >= 1) cancel = this.at(moment, run);
      else run();
    }, left);
    let cancel = () => clearTimeout(timer);
    return () => cancel();
  }
}
