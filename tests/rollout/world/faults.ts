import type { EtcdPort, KubePort, Ports, ReportPort, StepReport } from "../../../rollout/ports";
import { SimulatedEtcd } from "./etcd-port";
import { giveSecret, isGiven } from "./given";
import type { Invariants } from "./invariants";
import { SimulatedKube } from "./kube-port";
import type { Pod } from "./pods";
import type { RaftMember } from "./raft";
import type { World } from "./world";

export type FaultKind =
  | "kill-before" // the engine dies; the call never left
  | "kill-after" // the engine dies; the call was carried out
  | "lost-answer" // the call was carried out, the answer was not heard
  | "conflict" // 409 from the API server
  | "unreachable" // for some seconds no call reaches anybody
  | "api-server-away" // the same for up to a minute
  | "cert-manager-away"
  | "issuer-fails" // cert-manager says that it could not issue, and waits for an hour
  | "issuer-pending" // an issuer is not Ready for a while
  | "kubelet-lags" // it sees Secrets and ConfigMaps as they were
  | "container-crash"
  | "pod-deleted" // by a drain, or a person
  | "pods-replaced" // every node is drained, at once or in turn
  | "leader-change"
  | "leader-at-eviction" // leadership comes to the member that is just being evicted
  | "late-readiness"
  | "evictions-blocked" // the PodDisruptionBudget is used up by others
  | "secret-renewed" // somebody writes one of the given Secrets, or all, anew: of the same CA, or of another
  | "ca-renewed" // the CA behind an issuer, with another key
  | "leaves-renewed" // by cert-manager itself: one, or all; connections that are open stay, or break
  | "rollout-restart" // kubectl rollout restart: an annotation in the template
  | "template-edit" // kubectl edit: another image
  | "template-rolled" // the same, and every pod made again from it
  | "clock-set"; // the operator's wall clock is set forward

export interface Fault {
  kind: FaultKind;
  /** After how many calls that change something, and how many others after that. */
  change: number;
  call: number;
  /** Which member, how many calls, how long: what it means depends on the kind. */
  choice: number;
}

/** Calls that change something: crashes around these are the interesting ones. */
const CHANGES = new Set([
  "apply",
  "delete",
  "evict",
  "annotatePod",
  "replaceStatus",
  "updatePeerUrls",
  "moveLeader",
  "setDowngrade",
]);
const CALL_MS = 5;

/** Faults that need a certain call to make sense. */
const ONLY_AT: Partial<Record<FaultKind, string[]>> = {
  conflict: ["apply", "replaceStatus"],
  "leader-at-eviction": ["evict"],
};

/** The engine was killed: nothing of it runs any more. */
export class EngineKilled extends Error {}

/** Stands between the engine and the world: lets time pass, and lets things go wrong. */
export class Faults {
  readonly happened: string[] = [];
  /** How often each kind has happened, and how many calls the engine has made. */
  readonly counts: Partial<Record<FaultKind, number>> = {};
  calls = 0;
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

  /** Whether nothing has gone wrong, and nothing will, but that updates are killed. */
  get killsAlone(): boolean {
    const kinds = [...Object.keys(this.counts), ...this.pending.map(({ kind }) => kind)];
    return kinds.every((kind) => kind.startsWith("kill"));
  }

  /** Nothing goes wrong any more. */
  end(): void {
    this.pending.length = 0;
    this.unreachableUntil = 0;
    this.world.certManager.awayUntil = 0;
    for (const issuer of this.world.certManager.issuers.values()) issuer.ready = true;
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
        return (...args: unknown[]) =>
          life.over ? new Promise(() => {}) : this.call(name, die, args, () => own(...args));
      };
      const names = Object.getOwnPropertyNames(Object.getPrototypeOf(port)).filter((name) => name !== "constructor");
      return Object.fromEntries(names.map((name) => [name, method(name)])) as T;
    };
    const sleep = async (ms: number) => {
      if (life.over) return die();
      this.world.timeline.advance(ms);
    };
    return {
      kube: through(kube),
      etcd: through(etcd),
      clock: { now: () => this.world.wallClock(), monotonic: () => this.world.now(), sleep },
      report,
    };
  }

  private async call(
    name: string,
    die: () => Promise<never>,
    args: unknown[],
    perform: () => Promise<unknown>,
  ): Promise<unknown> {
    if (name === "versions" && !this.world.versionsMatter) return perform();
    this.calls += 1;
    this.world.timeline.advance(CALL_MS);
    const changing = CHANGES.has(name);
    const fault = this.due(name);
    const kind = fault?.kind;
    if (fault) this.disturb(fault, name, args);
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
    if (ONLY_AT[next.kind]?.includes(name) === false) return undefined;
    return this.pending.shift();
  }

  private disturb({ kind, choice }: Fault, call: string, args: unknown[]): void {
    const { world } = this;
    this.happened.push(`${kind} (${choice}) at ${call}`);
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    world.disturbedAt = world.now();
    const pod = world.pods[choice % Math.max(1, world.pods.length)];
    switch (kind) {
      case "unreachable":
        this.unreachableUntil = world.now() + 200 * choice;
        break;
      case "api-server-away":
        this.unreachableUntil = world.now() + 1000 * choice;
        break;
      case "cert-manager-away":
        world.certManager.awayUntil = world.now() + 2000 * choice;
        break;
      case "issuer-fails":
        world.certManager.failures = 1 + (choice % 3);
        break;
      case "issuer-pending":
        world.issuerPending(choice % 2 === 0 ? "ca-a" : "ca-b", 2000 * choice);
        break;
      case "kubelet-lags":
        world.lagKubelet(1500 * choice);
        break;
      case "container-crash":
        if (pod) world.crashContainer(pod);
        break;
      case "pod-deleted":
        if (pod) this.replace(pod);
        break;
      case "pods-replaced":
        this.replaceAll(choice % 2 === 0 ? 0 : 500 * choice);
        break;
      case "leader-change":
        this.lead(world.raft.members[choice % Math.max(1, world.raft.members.length)]);
        break;
      case "leader-at-eviction":
        this.lead(world.raft.members.find(({ name }) => name === args[1]));
        break;
      case "late-readiness":
        world.extraReadinessMs = 1000 * (choice % 40);
        break;
      case "evictions-blocked":
        world.evictionsBlockedUntil = world.now() + 1000 * (choice % 40);
        break;
      case "secret-renewed":
        this.renewSecrets(choice);
        break;
      case "ca-renewed":
        world.certManager.rekey([...world.certManager.issuers.values()][choice % world.certManager.issuers.size]!);
        break;
      case "leaves-renewed":
        this.renewLeaves(choice);
        break;
      case "rollout-restart":
        world.annotateTemplate({ "kubectl.kubernetes.io/restartedAt": String(world.now()) });
        break;
      case "template-edit":
        world.editImage("example.org/etcd", `edited-${choice}`);
        break;
      case "template-rolled":
        world.editImage("example.org/etcd", `edited-${choice}`);
        this.replaceAll(500 * choice);
        break;
      case "clock-set":
        // Never behind: leaves that were just issued would not be valid yet, and be issued anew by every update.
        world.clockOffset = choice * 60_000;
        break;
    }
  }

  private replace(pod: Pod): void {
    if (pod.phase === "terminating") return;
    this.invariants.podsReplaced = true;
    this.world.deletePod(pod);
  }

  /** Whatever pods there are then: some may have been replaced once already. */
  private replaceAll(pauseMs: number): void {
    const { world } = this;
    world.pods.forEach(({ ordinal }, index) => {
      world.timeline.after(1 + index * pauseMs, () => {
        const pod = world.pods.find((candidate) => candidate.ordinal === ordinal);
        world.disturbedAt = world.now();
        if (pod) this.replace(pod);
      });
    });
  }

  private renewLeaves(choice: number): void {
    const { certManager, raft } = this.world;
    const names = [...certManager.certificates.keys()];
    if (choice % 3 > 0) raft.keepConnections();
    for (const [index, name] of names.entries())
      if (choice % 2 === 0 || index === choice % names.length) certManager.renew(name);
  }

  private renewSecrets(choice: number): void {
    const { certManager } = this.world;
    const given = [...certManager.secrets.keys()].filter(isGiven);
    const next = choice % 2 === 0 ? { ca: "given", serial: 3 + choice } : { ca: "given-elsewhere" };
    for (const [index, name] of given.entries())
      if (choice % 4 === 0 || index === choice % given.length) giveSecret(this.world, name, next);
  }

  /** Raft lets a voter take over that has everything, and that a majority hears. */
  private lead(member: RaftMember | undefined): void {
    const { raft } = this.world;
    if (member && !member.isLearner && raft.leads(member) && member.stored >= raft.committed) raft.moveLeader(member);
  }
}
