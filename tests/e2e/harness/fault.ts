import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RetryPolicy, Scheme } from "../writer/config";
import { type Aftermath, inspect, lookAfterwards } from "./aftermath";
import { CredentialMirror } from "./credentials";
import type { Inspection } from "./etcd-writer";
import type { Goal } from "./expect-settled";
import { recordFault } from "./fault-report";
import { NamespaceWatch } from "./pod-watch";
import type { Scenario } from "./scenario";
import { outages, type PodEvent, restarts } from "./timeline";
import type { Update } from "./update";
import { Clients, RETRIES, type WriterResult } from "./writers";

/** Something that goes wrong while an update is carried out and clients are at work, and what is to come of it. */
export interface Fault {
  /** What goes wrong and when, as the table in docs/faults.md has it. */
  fault: string;
  /** What the update is for, such as `adding TLS`. */
  during: string;
  /** How clients get in before and afterwards. */
  from: Scheme;
  to: Scheme;
  /** Puts what is asked into the stack's settings. */
  edit?: (scenario: Scenario) => Promise<void>;
  /** Brings the fault about. Whatever is left is then done by another update. */
  happens: (run: FaultRun) => Promise<void>;
  /**
   * How many pods take over from others in all, those that the fault itself replaced included; the least and the most
   * where that depends on who is faster.
   */
  restarts: number | [least: number, most: number];
  /** How many of those never became ready, likewise. Default: none. */
  failedStarts?: number | [least: number, most: number];
  /** Why members are down, or refuse writes, that the engine has nothing to do with. */
  stopsWrites?: string;
  retry?: Partial<RetryPolicy>;
  goal?: Omit<Goal, "to">;
  /** Who may take members for down that are not, for a moment. */
  mayLookDown?: string;
}

/** How the asked end was reached. */
export type Reached =
  | "by the same update"
  | "by the next update"
  | `by the next update after ${number} that were broken off`
  | "by hand, then the next update";

export interface FaultEvidence {
  writers: WriterResult[];
  /** Acknowledged writes that were not read back. */
  lost: string[];
  pods: PodEvent[];
  gap?: string;
  /** Providers that outlived their CLI. */
  survivors: string[];
  reached: Reached;
  aftermath: Aftermath;
  inspection: Inspection;
}

/** What a fault can be brought about with. */
export class FaultRun {
  readonly #updates: Update[] = [];
  #mended = false;
  #brokenOff = 0;

  constructor(
    readonly scenario: Scenario,
    readonly folder: string,
  ) {}

  /** Starts an update beside the test. */
  start(stack = this.scenario.stack): Update {
    const update = stack.startUp(join(this.folder, `up-${this.#updates.length + 1}.txt`));
    this.#updates.push(update);
    return update;
  }

  /** Kills the CLI of an update, and does what its user has to do before the next. */
  async killCli(update: Update): Promise<void> {
    this.#brokenOff++;
    update.killCli();
    await update.end();
    await this.scenario.stack.cancel();
  }

  async killProvider(update: Update): Promise<void> {
    this.#brokenOff++;
    update.killProvider();
    await update.fail();
  }

  /** Ctrl-C, once. */
  async interrupt(update: Update): Promise<void> {
    this.#brokenOff++;
    update.interrupt();
    await update.end();
  }

  /** Says that something had to be mended by hand. */
  mendedByHand(): void {
    this.#mended = true;
  }

  /** The last update, if nothing has to follow it. */
  async finish(): Promise<Reached> {
    if (this.#updates.length > 0 && this.#updates.every((update) => update.code === 0)) return "by the same update";
    if (this.#updates.at(-1)?.code !== 0) await this.start().succeed();
    if (this.#mended) return "by hand, then the next update";
    return this.#brokenOff > 1
      ? `by the next update after ${this.#brokenOff} that were broken off`
      : "by the next update";
  }

  async survivors(): Promise<string[]> {
    return (await Promise.all(this.#updates.map((update) => update.survivors(10_000)))).flat();
  }

  sweep(): void {
    for (const update of this.#updates) update.sweep();
  }
}

/** Brings a fault about under load, has an update do what is left, and looks at everything that must hold then. */
export async function bringAbout(scenario: Scenario, fault: Fault, group: string): Promise<FaultEvidence> {
  const name = `${fault.during}, ${fault.fault}`.replace(/[^a-z0-9]+/gi, "-").slice(0, 60);
  const folder = join(scenario.folder, name);
  mkdirSync(folder, { recursive: true });
  const prefix = `e2e/${name}/`;
  await fault.edit?.(scenario);
  const watch = new NamespaceWatch(scenario.kube, scenario.namespace);
  const mirror = new CredentialMirror(scenario, join(folder, "credentials"));
  const retry = { ...RETRIES, ...fault.retry };
  // Clients that are to find their way back to where they were move with every attempt, not for good.
  const destination = retry.eitherScheme ? fault.from : fault.to;
  const settings = { members: scenario.members, credentials: mirror.files, retry, start: fault.from, destination };
  const clients = new Clients(scenario.environment, settings, folder, prefix);
  const run = new FaultRun(scenario, folder);
  try {
    await watch.start();
    await mirror.start();
    await clients.start();
    await fault.happens(run);
    const reached = await run.finish();
    const survivors = await run.survivors();
    const aftermath = await lookAfterwards(scenario, 0);
    const { writers } = await clients.stop();
    watch.stop();
    const { found, ...inspection } = await inspect(scenario, folder, prefix);
    const evidence: FaultEvidence = {
      writers,
      lost: writers.flatMap(({ acknowledgedKeys }) => acknowledgedKeys.filter((key) => !found.has(key))),
      pods: watch.pods,
      ...(watch.gap && { gap: watch.gap }),
      survivors,
      reached,
      aftermath,
      inspection,
    };
    record(fault, group, evidence);
    return evidence;
  } finally {
    run.sweep();
    watch.stop();
    await mirror.stop();
    await clients.abandon();
    writeFileSync(join(folder, "pods.json"), JSON.stringify(watch.pods, undefined, 1));
  }
}

function record(fault: Fault, group: string, { writers, lost, pods, reached, aftermath }: FaultEvidence): void {
  const patient = writers.find(({ name }) => name === "node");
  const names = [...new Set(pods.map(({ pod }) => pod.name))];
  recordFault({
    group,
    during: fault.during,
    fault: fault.fault,
    restarts: restarts(pods).length,
    needed: range(fault.restarts),
    written: writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
    lost: lost.length,
    failed: patient?.failed ?? 0,
    longestMs: patient?.longestMs ?? 0,
    twoDown: outages(pods, names).length > 0,
    reached: aftermath.previewTrouble ? "not reached" : reached,
  });
}

/** The least and the most. */
export function range(wanted: number | [number, number]): [number, number] {
  return typeof wanted === "number" ? [wanted, wanted] : wanted;
}
