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
  return seconds < 60 ? `${seconds.toFixed(1)} s` : duration(seconds);
}

/** Seconds for people: `40 s`, `3 min 20 s`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** An estimate, no more exact than it can be: `about 40 s`, `about 4 min`. */
export function aboutDuration(seconds: number): string {
  return seconds < 90 ? `about ${Math.ceil(seconds / 10) * 10} s` : `about ${Math.ceil(seconds / 60)} min`;
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
