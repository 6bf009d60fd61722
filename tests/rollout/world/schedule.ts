import fc from "fast-check";
import type { Fault, FaultKind } from "./faults";

export type Change = "add" | "remove" | "reissue" | "rotate" | "template";

/** Everything that chance decides in one run. */
export interface Schedule {
  replicas: number;
  change: Change;
  /** Ask for the old state again after the engine was killed for the first time. */
  revert: boolean;
  budget: boolean;
  durations: number[];
  faults: Fault[];
}

const KINDS: Record<FaultKind, number> = {
  "kill-before": 3,
  "kill-after": 4,
  "lost-answer": 3,
  conflict: 1,
  unreachable: 2,
  "container-crash": 3,
  "pod-deleted": 2,
  "leader-change": 3,
  "late-readiness": 2,
  "evictions-blocked": 2,
};

const kind = fc.oneof(
  ...Object.entries(KINDS).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as FaultKind) })),
);

export const durations = fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 24 });

const fault: fc.Arbitrary<Fault> = fc.record({
  kind,
  change: fc.integer({ min: 0, max: 45 }),
  call: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.integer({ min: 0, max: 40 }) }),
  choice: fc.nat({ max: 60 }),
});

export const schedule = (changes: Change[]): fc.Arbitrary<Schedule> =>
  fc.record({
    replicas: fc.constantFrom(3, 3, 3, 1, 5),
    change: fc.constantFrom(...changes),
    revert: fc.boolean(),
    budget: fc.boolean(),
    durations,
    faults: fc.array(fault, { minLength: 1, maxLength: 6 }),
  });

/** How long to search, and where: ROLLOUT_SCHEDULES=50000; ROLLOUT_SEED and ROLLOUT_PATH as a failure printed them. */
export function searchParameters(): fc.Parameters<unknown> {
  const { ROLLOUT_SCHEDULES = "1000", ROLLOUT_SEED, ROLLOUT_PATH } = process.env;
  return {
    numRuns: Number(ROLLOUT_SCHEDULES),
    ...(ROLLOUT_SEED !== undefined && { seed: Number(ROLLOUT_SEED) }),
    ...(ROLLOUT_PATH !== undefined && { path: ROLLOUT_PATH }),
  };
}
