import type { Clock } from "./clock.ts";

/** A clock that stands still until it is told to go on: for tests of what happens in time, without waiting. */
export class ManualClock implements Clock {
  #now = 0;
  readonly #wallStart: number;
  #alarms: { moment: number; run: () => void }[] = [];

  /** @param wallStart Unix time in milliseconds at `now() === 0` */
  constructor(wallStart = 1_735_689_600_000) {
    this.#wallStart = wallStart;
  }

  now(): number {
    return this.#now;
  }

  wall(): number {
    return this.#wallStart + this.#now;
  }

  at(moment: number, run: () => void): () => void {
    const alarm = { moment, run };
    this.#alarms.push(alarm);
    return () => {
      this.#alarms = this.#alarms.filter((other) => other !== alarm);
    };
  }

  /** Moments for which something is set. */
  get pending(): number[] {
    return this.#alarms.map((alarm) => alarm.moment).sort((a, b) => a - b);
  }

  /** Goes on, and rings every alarm on the way in the order of their moments. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = this.#alarms.filter((alarm) => alarm.moment <= end).sort((a, b) => a.moment - b.moment)[0];
      if (due === undefined) break;
      this.#alarms = this.#alarms.filter((alarm) => alarm !== due);
      this.#now = Math.max(this.#now, due.moment);
      due.run();
    }
    this.#now = end;
  }
}
