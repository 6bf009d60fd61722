/** How often the world looks at itself: elections, writes, readiness. */
const TICK_MS = 200;

/** When every world begins: now, to the hour, because certificates are judged by the machine's clock, too. */
export const BEGINNING = Math.floor(Date.now() / 3_600_000) * 3_600_000;

/**
 * Virtual time. Nothing happens unless somebody lets time pass; then what was due happens, in order.
 */
export class Timeline {
  private time = BEGINNING;
  private events: { at: number; run: () => void }[] = [];

  constructor(private readonly tick: () => void) {
    this.scheduleTick();
  }

  now(): number {
    return this.time;
  }

  after(ms: number, run: () => void): void {
    const at = this.time + ms;
    const index = this.events.findIndex((event) => event.at > at);
    this.events.splice(index < 0 ? this.events.length : index, 0, { at, run });
  }

  advance(ms: number): void {
    const end = this.time + ms;
    for (let next = this.events[0]; next && next.at <= end; next = this.events[0]) {
      this.events.shift();
      this.time = next.at;
      next.run();
    }
    this.time = end;
  }

  private scheduleTick(): void {
    this.after(TICK_MS, () => {
      this.scheduleTick();
      this.tick();
    });
  }
}

/**
 * Durations that the test chose: each is taken from the list in turn, which fast-check can then shrink. An empty list
 * means that everything is quick.
 */
export class Durations {
  private next = 0;

  constructor(private readonly shares: number[]) {}

  /** A duration between `min` and `max`, in milliseconds. */
  between(min: number, max: number): number {
    const share = this.shares.length === 0 ? 0 : this.shares[this.next++ % this.shares.length]!;
    return Math.round(min + ((max - min) * share) / 100);
  }

  /** One of several equally good choices. */
  pick<T>(choices: T[]): T | undefined {
    return choices[Math.min(choices.length - 1, this.between(0, choices.length))];
  }
}
