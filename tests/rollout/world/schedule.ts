import fc from "fast-check";
import type { Fault, FaultKind } from "./faults";
import type { Habits } from "./habits";

/** What is changed; where the certificates come from no issuer, with the source before it. */
export type Change =
  | "add"
  | "remove"
  | "reissue"
  | "rotate"
  | "template"
  | `own-ca: ${"add" | "remove" | "next generation" | "another name" | "rotate"}`
  | `secrets: ${"add" | "remove" | "others" | "another CA" | "renewed"}`
  | Move
  | Versions;

/** From one minor release of etcd to another. */
export type Versions = `etcd ${"3.5 to 3.6" | "3.6 to 3.7" | "3.7 to 3.6" | "3.6 to 3.5"}`;

/** From one source of certificates to another. */
export type Move =
  | `issuer to ${"own-ca" | "secrets"}`
  | `own-ca to ${"issuer" | "secrets"}`
  | `secrets to ${"issuer" | "own-ca"}`;

/** Everything that chance decides in one run. */
export interface Schedule {
  replicas: number;
  change: Change;
  /** Ask for the old state again after the engine was killed for the first time. */
  revert: boolean;
  /** Change one's mind at every kill, not only at the first. */
  wavering?: boolean;
  /** Which of `ELSEWHERE` to ask for instead of the old state; absent: the old state. */
  elsewhere?: number | undefined;
  /** Which member is a learner; absent: none. */
  learner?: number | undefined;
  budget: boolean;
  /** What issuers make of what is asked; absent: that. */
  habits?: Habits | undefined;
  durations: number[];
  faults: Fault[];
}

const KINDS: Record<FaultKind, number> = {
  "kill-before": 3,
  "kill-after": 4,
  "lost-answer": 3,
  conflict: 1,
  unreachable: 2,
  "api-server-away": 1,
  "cert-manager-away": 1,
  "issuer-fails": 1,
  "issuer-pending": 1,
  "kubelet-lags": 2,
  "container-crash": 3,
  "pod-deleted": 2,
  "pods-replaced": 1,
  "leader-change": 2,
  "leader-at-eviction": 1,
  "late-readiness": 2,
  "evictions-blocked": 2,
  "secret-renewed": 1,
  "ca-renewed": 1,
  "leaves-renewed": 1,
  "rollout-restart": 1,
  "template-edit": 1,
  "template-rolled": 1,
  "clock-set": 1,
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

const habits = fc.constantFrom<Habits>(
  { atMostHours: 24 },
  { atLeastHours: 17_520 },
  { datesBackHours: 24 },
  { slowMs: 30_000 },
  { gives: "a chain" },
);

/** `elsewhere`: whether a third state may be asked for after a kill. */
export const schedule = (changes: Change[], elsewhere = false): fc.Arbitrary<Schedule> =>
  anySchedule(changes, elsewhere).map((found) => ({ ...found, faults: found.faults.filter(fits(found)) }));

/** A CA that is renewed takes restarts, which preview refuses beside a change of etcd's version. */
const fits =
  ({ change }: Schedule) =>
  ({ kind }: Fault) =>
    !change.startsWith("etcd ") || kind !== "ca-renewed";

const anySchedule = (changes: Change[], elsewhere: boolean): fc.Arbitrary<Schedule> =>
  fc.record({
    replicas: fc.constantFrom(3, 3, 3, 1, 5),
    change: fc.constantFrom(...changes),
    revert: fc.boolean(),
    wavering: fc.boolean(),
    elsewhere: elsewhere ? fc.option(fc.nat({ max: 5 }), { nil: undefined }) : fc.constant(undefined),
    learner: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat({ max: 4 }) }),
    budget: fc.boolean(),
    habits: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: habits }),
    durations,
    faults: fc.array(fault, { minLength: 1, maxLength: 6 }),
  });
