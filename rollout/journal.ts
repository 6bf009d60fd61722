import type { Condition, ConditionType, Ports } from "./ports";

/** What one member's restart took. */
export interface RestartRecord {
  member: string;
  /** The pass as the steps name it, such as `pass 1/2`. */
  pass: string;
  /** From the eviction until the gate was open again, in milliseconds. */
  durationMs: number;
  wasLeader: boolean;
}

/** What was done, as it ends in a resource's outputs. */
export interface Record {
  /** In the plan's words. */
  steps: string[];
  conditions: Condition[];
  restarts: RestartRecord[];
  durationMs: number;
}

/** Keeps the record of one update, and tells the user about every step when it is done. */
export class Journal {
  private readonly steps: string[] = [];
  private readonly conditions: Condition[] = [];
  private readonly restarts: RestartRecord[] = [];
  private readonly started: number;

  constructor(private readonly ports: Pick<Ports, "clock" | "report">) {
    this.started = ports.clock.monotonic();
  }

  note(step: string, detail: string, condition: ConditionType): void {
    this.steps.push(step);
    this.ports.report.step({ step, detail, condition });
    this.condition(condition, step);
  }

  /** For the user who watches; no part of the record. */
  progress(line: string): void {
    this.ports.report.progress?.(line);
  }

  restarted(restart: RestartRecord): void {
    this.restarts.push(restart);
  }

  /** One entry a type: the latest word on it, as in a Kubernetes status. */
  condition(type: ConditionType, message: string): void {
    const lastTransitionTime = new Date(this.ports.clock.now()).toISOString();
    const entry: Condition = { type, status: "True", reason: type, message, lastTransitionTime };
    const index = this.conditions.findIndex((known) => known.type === type);
    if (index < 0) this.conditions.push(entry);
    else this.conditions[index] = entry;
  }

  record(): Record {
    const { steps, conditions, restarts } = this;
    return { steps, conditions, restarts, durationMs: Math.round(this.ports.clock.monotonic() - this.started) };
  }
}
