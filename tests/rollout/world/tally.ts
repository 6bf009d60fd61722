import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FaultKind } from "./faults";
import type { Scenario } from "./scenario";
import type { Schedule } from "./schedule";

/** How a schedule ended: in the asked state, each of them, but over different ways. */
export type Ending = "at once" | "run again" | "resumed after a kill" | "reverted after a kill";

/** What a search has lived through, for docs/simulation.md. */
export interface Counts {
  schedules: number;
  /** Updates that were run, and calls that they made. */
  updates: number;
  calls: number;
  checks: number;
  evictions: number;
  /** Updates that were refused before they changed anything, and updates that were killed. */
  refusals: number;
  kills: number;
  learners: number;
  changes: Record<string, number>;
  faults: Partial<Record<FaultKind, number>>;
  endings: Partial<Record<Ending, number>>;
}

/** Counts, and leaves the counts where `make simulate` finds them. */
export class Tally {
  private readonly counts: Counts = {
    schedules: 0,
    updates: 0,
    calls: 0,
    checks: 0,
    evictions: 0,
    refusals: 0,
    kills: 0,
    learners: 0,
    changes: {},
    faults: {},
    endings: {},
  };

  constructor(private readonly file: string) {}

  add({ invariants, faults, failures, updates, ending }: Scenario, { change, learner, replicas }: Schedule): void {
    const { counts } = this;
    counts.schedules += 1;
    counts.updates += updates;
    counts.calls += faults.calls;
    counts.checks += invariants.checks;
    counts.evictions += invariants.evictions.length;
    counts.refusals += failures.filter((failure) => failure.startsWith("Refusal")).length;
    counts.kills += failures.filter((failure) => failure === "killed").length;
    counts.learners += learner === undefined || replicas === 1 ? 0 : 1;
    counts.changes[change] = (counts.changes[change] ?? 0) + 1;
    counts.endings[ending] = (counts.endings[ending] ?? 0) + 1;
    for (const [kind, times] of Object.entries(faults.counts) as [FaultKind, number][])
      counts.faults[kind] = (counts.faults[kind] ?? 0) + times;
  }

  write(): void {
    const folder = process.env.ROLLOUT_TALLY;
    if (!folder) return;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${this.file}.json`), JSON.stringify(this.counts));
  }
}
