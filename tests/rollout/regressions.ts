import type { Schedule } from "./world";

/** Schedules that once broke a promise, as fast-check shrank them. Add what a failure prints, and why it happened. */
export const REGRESSIONS: Record<string, Schedule> = {
  "a pod that was replaced on the way was restarted once more": {
    replicas: 3,
    change: "remove",
    revert: false,
    budget: false,
    durations: [],
    faults: [{ kind: "pod-deleted", change: 4, call: 0, choice: 0 }],
  },
  "a pod that was replaced while leadership moved was restarted once more": {
    replicas: 3,
    change: "remove",
    revert: false,
    budget: false,
    durations: [17],
    faults: [
      { kind: "pod-deleted", change: 0, call: 0, choice: 0 },
      { kind: "leader-change", change: 0, call: 0, choice: 0 },
    ],
  },
  "after a kill and a revert, a replaced pod was restarted once more": {
    replicas: 3,
    change: "add",
    revert: true,
    budget: false,
    durations: [36],
    faults: [
      { kind: "pod-deleted", change: 23, call: 23, choice: 0 },
      { kind: "kill-after", change: 14, call: 0, choice: 0 },
      { kind: "conflict", change: 13, call: 0, choice: 0 },
    ],
  },
  "a blocked eviction went on although another member had failed meanwhile": {
    replicas: 3,
    change: "add",
    revert: false,
    budget: false,
    durations: [48],
    faults: [
      { kind: "container-crash", change: 39, call: 1, choice: 0 },
      { kind: "evictions-blocked", change: 10, call: 23, choice: 14 },
    ],
  },
  "with two members down, the one that came back was restarted": {
    replicas: 3,
    change: "remove",
    revert: false,
    budget: false,
    durations: [42, 19, 63],
    faults: [
      { kind: "pod-deleted", change: 0, call: 0, choice: 10 },
      { kind: "pod-deleted", change: 1, call: 0, choice: 0 },
    ],
  },
  "one member, killed between the plain template and the restart: nobody knows its client certificate any more": {
    replicas: 1,
    change: "remove",
    revert: false,
    budget: true,
    durations: [],
    faults: [{ kind: "kill-after", change: 1, call: 0, choice: 0 }],
  },
  "a container that restarts reads the trust bundle as it is then, not the revision that its pod names": {
    replicas: 3,
    change: "reissue",
    revert: true,
    budget: false,
    durations: [],
    faults: [
      { kind: "container-crash", change: 16, call: 0, choice: 0 },
      { kind: "kill-after", change: 15, call: 19, choice: 0 },
    ],
  },
  "a member was restarted from a template that somebody had edited in between": {
    replicas: 3,
    change: "remove",
    revert: false,
    budget: false,
    durations: [],
    faults: [
      { kind: "template-edit", change: 7, call: 0, choice: 0 },
      { kind: "pods-replaced", change: 7, call: 0, choice: 0 },
      { kind: "lost-answer", change: 0, call: 0, choice: 0 },
    ],
  },
  "with five members replaced at once, two were known under the other scheme only and never became ready": {
    replicas: 5,
    change: "add",
    revert: false,
    budget: true,
    durations: [20],
    faults: [
      { kind: "kill-before", change: 22, call: 0, choice: 0 },
      { kind: "pods-replaced", change: 22, call: 0, choice: 0 },
    ],
  },
  "Secrets that were seeded stayed when the config was put back before anything was written into them": {
    replicas: 3,
    change: "issuer to own-ca",
    revert: true,
    budget: false,
    durations: [],
    faults: [
      { kind: "kill-after", change: 1, call: 2, choice: 0 },
      { kind: "pods-replaced", change: 0, call: 0, choice: 0 },
    ],
  },
  "put back once the old CA was dropped: members were moved to leaves of it before all of them trusted it again": {
    replicas: 3,
    change: "issuer to own-ca",
    revert: true,
    budget: false,
    durations: [],
    faults: [{ kind: "kill-before", change: 19, call: 0, choice: 0 }],
  },
  "the same, with Secrets of ours: a kubelet that lagged gave the members the old leaf, not the one that was seeded": {
    replicas: 3,
    change: "secrets to own-ca",
    revert: true,
    budget: false,
    durations: [],
    faults: [
      { kind: "kill-before", change: 19, call: 0, choice: 0 },
      { kind: "kubelet-lags", change: 16, call: 0, choice: 22 },
      { kind: "late-readiness", change: 0, call: 0, choice: 0 },
    ],
  },
};
