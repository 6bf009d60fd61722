import fc from "fast-check";
import { live } from "./run";
import type { Scenario } from "./scenario";
import { type Change, type Schedule, schedule } from "./schedule";
import { Tally } from "./tally";

/** In each of the five files that search; with those that are killed at every step, more than ten thousand in all. */
const SCHEDULES = 1800;

/**
 * Searches for a schedule that breaks a promise. Where, and for how long: ROLLOUT_SCHEDULES=50000; ROLLOUT_SEED and
 * ROLLOUT_PATH as a failure printed them.
 */
export async function search(file: string, changes: Change[], elsewhere = false): Promise<void> {
  const tally = new Tally(file);
  const property = fc.asyncProperty(schedule(changes, elsewhere), async (drawn) => {
    await liveThrough(drawn, tally);
  });
  const details = await fc.check(property, searchParameters());
  tally.write();
  if (details.failed) throw new Error(report(file, details));
}

/** One schedule, counted and verified. */
export async function liveThrough(drawn: Schedule, tally: Tally): Promise<Scenario> {
  const scenario = await live(drawn);
  tally.add(scenario, drawn);
  scenario.verify();
  return scenario;
}

/** In CI the schedules are always the same: a change is judged by what it changes. Elsewhere every run draws its own. */
function searchParameters(): fc.Parameters<[Schedule]> {
  const { ROLLOUT_SCHEDULES = String(SCHEDULES), ROLLOUT_PATH, CI } = process.env;
  const { ROLLOUT_SEED = CI ? "20301" : undefined } = process.env;
  return {
    numRuns: Number(ROLLOUT_SCHEDULES),
    ...(ROLLOUT_SEED !== undefined && { seed: Number(ROLLOUT_SEED) }),
    ...(ROLLOUT_PATH !== undefined && { path: ROLLOUT_PATH }),
  };
}

/** What was broken, by which shrunken schedule, and the line that does it again. */
function report(file: string, details: fc.RunDetails<[Schedule]>): string {
  const { seed, counterexamplePath, counterexample, errorInstance } = details;
  return [
    (errorInstance as Error | null)?.message ?? "a promise was broken",
    "the schedule, for tests/rollout/regressions.ts:",
    JSON.stringify(counterexample?.[0]),
    "to replay it:",
    `ROLLOUT_SEED=${seed} ROLLOUT_PATH=${counterexamplePath} npm test -- tests/rollout/${file}.test.ts`,
  ].join("\n");
}
