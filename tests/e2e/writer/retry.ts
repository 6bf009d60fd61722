import type { RetryPolicy } from "./config";

export interface RetryOutcome {
  ok: boolean;
  attempts: number;
  /** Why the last attempt failed. */
  error?: string;
}

export interface RetryClock {
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** Repeats an attempt until it succeeds or the policy's time is up. Attempts are numbered from 0. */
export async function retrying(
  policy: RetryPolicy,
  clock: RetryClock,
  attempt: (number: number, deadlineMs: number) => Promise<unknown>,
): Promise<RetryOutcome> {
  const end = clock.now() + policy.overallMs;
  for (let number = 0; ; number++) {
    try {
      await attempt(number, Math.max(1, Math.min(policy.attemptMs, end - clock.now())));
      return { ok: true, attempts: number + 1 };
    } catch (error) {
      if (clock.now() + policy.pauseMs >= end) {
        return { ok: false, attempts: number + 1, error: (error as Error).message };
      }
      await clock.sleep(policy.pauseMs);
    }
  }
}
