import type { Clock } from "./ports";

/** A wait ran into its deadline: what was awaited, and what stood in the way when time was up. */
export class DeadlineError extends Error {
  override readonly name = "DeadlineError";
}

export interface WaitOptions {
  clock: Clock;
  deadlineMs: number;
  /** Pause between two looks, in milliseconds. */
  intervalMs?: number;
  /** What is awaited, such as `etcd-1 to be ready`. */
  what: string;
}

/**
 * Looks again and again until `look` is done; until then it says why not yet. Throws `DeadlineError` with the last reason after the
 * deadline. An error of `look` itself counts as a reason: the API server may be away for a moment.
 */
export async function waitFor<T>(options: WaitOptions, look: () => Promise<{ done: T } | string>): Promise<T> {
  const end = options.clock.monotonic() + options.deadlineMs;
  for (;;) {
    const outcome = await look().catch((error: Error) => {
      if (error instanceof FatalError) throw error;
      return error.message;
    });
    if (typeof outcome !== "string") return outcome.done;
    if (options.clock.monotonic() >= end) {
      const seconds = Math.round(options.deadlineMs / 1000);
      throw new DeadlineError(`waited ${seconds} s for ${options.what}: ${outcome}`);
    }
    await options.clock.sleep(options.intervalMs ?? 250);
  }
}

/** An error that waiting cannot mend. */
export class FatalError extends Error {
  override readonly name: string = "FatalError";
}
