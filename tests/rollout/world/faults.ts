import type { EtcdPort, KubePort, Ports, ReportPort, StepReport } from "../../../rollout/ports";
import { SimulatedEtcd } from "./etcd-port";
import type { Invariants } from "./invariants";
import { SimulatedKube } from "./kube-port";
import type { World } from "./world";

export type FaultKind =
  | "kill-before" // the engine dies; the call never left
  | "kill-after" // the engine dies; the call was carried out
  | "lost-answer" // the call was carried out, the answer was not heard
  | "conflict" // 409 from the API server
  | "unreachable" // for a while no call reaches anybody
  | "container-crash"
  | "pod-deleted" // by a drain, or a person
  | "leader-change"
  | "late-readiness"
  | "evictions-blocked";

export interface Fault {
  kind: FaultKind;
  /** After how many calls that change something, and how many others after that. */
  change: number;
  call: number;
  /** Which member, how many calls, how long: what it means depends on the kind. */
  choice: number;
}

/** Calls that change something: crashes around these are the interesting ones. */
const CHANGES = new Set(["apply", "delete", "evict", "annotatePod", "replaceStatus", "updatePeerUrls", "moveLeader"]);
const CALL_MS = 5;

/** The engine was killed: nothing of it runs any more. */
export class EngineKilled extends Error {}

/** Stands between the engine and the world: lets time pass, and lets things go wrong. */
export class Faults {
  readonly happened: string[] = [];
  private changes = 0;
  private callsSince = 0;
  private unreachableUntil = 0;
  private readonly pending: Fault[];

  constructor(
    private readonly world: World,
    private readonly invariants: Invariants,
    faults: Fault[] = [],
  ) {
    this.pending = [...faults].sort((a, b) => a.change - b.change || a.call - b.call);
  }

  /** Runs an engine on ports of its own until it ends or is killed. */
  async run<T>(engine: (ports: Ports, steps: StepReport[]) => Promise<T>): Promise<T> {
    const steps: StepReport[] = [];
    let kill: (error: Error) => void = () => {};
    const killed = new Promise<never>((_, reject) => {
      kill = reject;
    });
    const life = { over: false };
    const die = (): Promise<never> => {
      life.over = true;
      kill(new EngineKilled());
      return new Promise(() => {});
    };
    return Promise.race([engine(this.ports(life, die, steps), steps), killed]);
  }

  private ports(life: { over: boolean }, die: () => Promise<never>, steps: StepReport[]): Ports {
    const kube: KubePort = new SimulatedKube(this.world, this.invariants);
    const etcd: EtcdPort = new SimulatedEtcd(this.world, (from, to) => this.invariants.moved(from, to));
    const report: ReportPort = { step: (step) => steps.push(step) };
    const through = <T extends object>(port: T): T => {
      const method = (name: string) => {
        const own = (port as Record<string, (...given: unknown[]) => Promise<unknown>>)[name]!.bind(port);
        return (...args: unknown[]) => (life.over ? new Promise(() => {}) : this.call(name, die, () => own(...args)));
      };
      const names = Object.getOwnPropertyNames(Object.getPrototypeOf(port)).filter((name) => name !== "constructor");
      return Object.fromEntries(names.map((name) => [name, method(name)])) as T;
    };
    const sleep = async (ms: number) => {
      if (life.over) return die();
      this.world.timeline.advance(ms);
    };
    return { kube: through(kube), etcd: through(etcd), clock: { now: () => this.world.now(), sleep }, report };
  }

  private async call(name: string, die: () => Promise<never>, perform: () => Promise<unknown>): Promise<unknown> {
    this.world.timeline.advance(CALL_MS);
    const changing = CHANGES.has(name);
    const fault = this.due(name);
    const kind = fault?.kind;
    if (fault) this.disturb(fault, name);
    if (kind === "kill-before") return die();
    if (this.world.now() < this.unreachableUntil) {
      throw new Error(`${name}: connect ECONNREFUSED`);
    }
    if (kind === "conflict") throw new Error(`${name}: Conflict (409): the object has been modified`);
    const answer = await perform();
    this.invariants.check();
    if (changing) this.changes += 1;
    this.callsSince = changing ? 0 : this.callsSince + 1;
    if (kind === "kill-after") return die();
    if (kind === "lost-answer") throw new Error(`${name}: socket hang up`);
    return answer;
  }

  private due(name: string): Fault | undefined {
    const next = this.pending[0];
    if (!next || next.change > this.changes) return undefined;
    if (next.change === this.changes && next.call > this.callsSince) return undefined;
    if (next.kind === "conflict" && name !== "apply") return undefined;
    return this.pending.shift();
  }

  private disturb({ kind, choice }: Fault, call: string): void {
    const { world } = this;
    this.happened.push(`${kind} (${choice}) at ${call}`);
    world.disturbedAt = world.now();
    const pod = world.pods[choice % Math.max(1, world.pods.length)];
    const member = world.raft.members[choice % Math.max(1, world.raft.members.length)];
    if (kind === "unreachable") this.unreachableUntil = world.now() + 200 * choice;
    if (kind === "container-crash" && pod) world.crashContainer(pod);
    if (kind === "pod-deleted" && pod && pod.phase !== "terminating") {
      this.invariants.podsReplaced = true;
      world.deletePod(pod);
    }
    if (kind === "leader-change" && member && world.raft.leads(member) && member.stored >= world.raft.committed)
      world.raft.moveLeader(member);
    if (kind === "late-readiness") world.extraReadinessMs = 1000 * (choice % 40);
    if (kind === "evictions-blocked") world.evictionsBlockedUntil = world.now() + 1000 * (choice % 40);
  }
}
