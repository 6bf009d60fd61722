import { writeSync } from "node:fs";

/** Progress goes to stderr: stdout belongs to what a command prints for others to read. */
export function report(line: string): void {
  writeSync(2, `${line}\n`);
}

/** Runs one step and says how long it took. */
export async function step<T>(title: string, work: () => Promise<T> | T): Promise<T> {
  const started = Date.now();
  report(`${title} ...`);
  const result = await work();
  report(`${title}: ${elapsed(started)}`);
  return result;
}

export function elapsed(since: number): string {
  const seconds = (Date.now() - since) / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** Numbers a fixed count of steps: `[3/12] ...`. */
export class Counter {
  #done = 0;
  readonly #total: number;

  constructor(total: number) {
    this.#total = total;
  }

  next(): string {
    this.#done += 1;
    return `[${this.#done}/${this.#total}]`;
  }
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
