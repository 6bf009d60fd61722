import { trustBundleName } from "../../../config";
import { PLAIN, type PlaneStage, type Stage, stageOf } from "../../../manifests";
import { trusts } from "./cert-manager";
import { usersOf } from "./kube-port";
import { bundleOf, secretsOf } from "./pods";
import type { RaftMember } from "./raft";
import { BEGINNING } from "./timeline";
import type { World } from "./world";

/** An outage that is younger than this may have begun after the gate was asked: nobody could know. */
const UNKNOWABLE_MS = 5000;
/** With a majority running, elections and restarts keep writes waiting no longer than this. */
const LONGEST_STALL_MS = 20_000;

/**
 * What must hold after everything that happens. Broken promises are collected, not thrown: an error inside a port
 * call would look to the engine like a hiccup of the network.
 */
export class Invariants {
  readonly broken: string[] = [];
  private readonly told = new Set<string>();
  checks = 0;
  /** How often the engine had leadership moved, and evicted a pod. */
  readonly moves: { from: string; to: string }[] = [];
  readonly evictions: string[] = [];
  /** Members that the engine took down and that are not back yet. */
  private readonly takenDown = new Set<RaftMember>();
  private readonly downSince = new Map<RaftMember, number>();
  private majoritySince: number | undefined;
  private leavesSeen = "";
  private seen: { topology: number; workload: unknown } | undefined;
  /** Pods were made again behind the engine's back: they are reachable one way only until it registers them. */
  podsReplaced = false;

  constructor(private readonly world: World) {
    world.onWrongStart = (what) => this.fail(what);
    world.onStep = () => {
      this.noteAvailability();
      this.check();
    };
  }

  /** After every step. */
  check(): void {
    const { world } = this;
    if (!world.workload) return;
    this.checks += 1;
    this.noteRecovery();
    this.checkProgress();
    this.checkAcknowledged();
    this.checkLeaves();
    if (world.spec.replicas === 1 || !this.stagesChanged()) return;
    this.checkNeighbours();
    this.checkTemplate();
  }

  /** A pod is about to be evicted on the engine's behalf. */
  evicting(name: string): void {
    const { raft } = this.world;
    this.noteAvailability();
    this.evictions.push(name);
    const target = raft.members.find((member) => member.name === name);
    const pod = this.world.pods.find((candidate) => candidate.name === name);
    if (!target || target.isLearner) return;
    if (this.world.distrusts(target)) return;
    if (pod?.revision === this.world.workload?.observed.revision && !this.world.extraReadinessMs)
      this.fail(`${name} is restarted although it is on the newest revision`);
    for (const other of this.takenDown) {
      if (other !== target) this.fail(`${name} is restarted while ${other.name}, restarted before, is not back`);
    }
    if (this.world.available(target)) {
      for (const other of raft.voters) {
        if (other !== target && this.outageWasKnown(other)) {
          this.fail(`${name} is healthy and is restarted while ${other.name} is unavailable`);
        }
      }
    }
    this.takenDown.add(target);
  }

  deleting(kind: string, name: string): void {
    const users = usersOf(this.world, kind, name);
    if (users.length > 0) this.fail(`${kind} ${name} is deleted while ${users.join(", ")} mounts it`);
  }

  moved(from: string, to: string): void {
    this.moves.push({ from, to });
  }

  /** The first time that a promise is broken is the one that tells something. */
  fail(what: string): void {
    if (this.told.has(what)) return;
    this.told.add(what);
    this.broken.push(`${((this.world.now() - BEGINNING) / 1000).toFixed(1)} s: ${what}`);
  }

  private stagesChanged(): boolean {
    const { raft, workload } = this.world;
    const same = this.seen?.topology === raft.topology && this.seen.workload === workload?.object;
    this.seen = { topology: raft.topology, workload: workload?.object };
    return !same;
  }

  /** Looked at after every call: a member may be back for less than a tick before something else happens to it. */
  private noteRecovery(): void {
    for (const member of [...this.takenDown, ...this.downSince.keys()]) {
      if (!this.world.available(member)) continue;
      this.takenDown.delete(member);
      this.downSince.delete(member);
    }
  }

  private noteAvailability(): void {
    for (const member of this.world.raft.voters) {
      if (this.world.available(member)) this.downSince.delete(member);
      else if (!this.downSince.has(member)) this.downSince.set(member, this.world.now());
    }
  }

  private outageWasKnown(member: RaftMember): boolean {
    const since = this.downSince.get(member);
    if (since === undefined) return false;
    const { disturbedAt } = this.world;
    const disturbed = disturbedAt !== undefined && this.world.now() - disturbedAt < 60_000;
    return !disturbed || this.world.now() - since > UNKNOWABLE_MS;
  }

  /** A majority that runs can commit. */
  private checkProgress(): void {
    const { raft } = this.world;
    const now = this.world.now();
    if (raft.voters.filter((voter) => voter.process).length < raft.majority) this.majoritySince = undefined;
    else this.majoritySince ??= now;
    if (this.majoritySince === undefined) return;
    // Members that refuse each other are what an update repairs.
    if (raft.members.some((member) => this.world.distrusts(member))) this.majoritySince = now;
    const stalled = now - Math.max(this.majoritySince, raft.lastCommitAt);
    if (stalled > LONGEST_STALL_MS) this.fail("a majority of the members runs, but nothing can be written");
  }

  private checkAcknowledged(): void {
    const { leader, committed, voters, majority } = this.world.raft;
    if (voters.filter((voter) => voter.stored >= committed).length < majority)
      this.fail("an acknowledged write is lost");
    if (leader?.process && leader.stored < committed) this.fail(`${leader.name} leads without an acknowledged write`);
  }

  /** Whatever comes into a Secret that members mount, every member that runs trusts already. */
  private checkLeaves(): void {
    const { raft, pods, certManager, configMaps } = this.world;
    const bundle = bundleOf(configMaps.get(trustBundleName(this.world.spec)));
    const now = `${raft.topology} ${certManager.written} ${bundle}`;
    if (this.leavesSeen === now) return;
    this.leavesSeen = now;
    const mounted = new Set(pods.flatMap((pod) => secretsOf(pod.template)));
    for (const member of raft.members) {
      const { name, process } = member;
      if (!process?.trust) continue;
      for (const secret of mounted) {
        const leaf = certManager.secrets.get(secret)?.certificate;
        if (leaf && !certManager.unattended.has(leaf) && !trusts(process.trust, leaf))
          this.fail(`Secret ${secret} holds a leaf that ${name} does not trust`);
      }
      // Clients read the bundle whenever they like.
      if (process.stage.client === "plain" || this.world.servesBygone(member)) continue;
      const leaf = process.serverLeaf();
      if (leaf && certManager.unattended.has(leaf)) continue;
      if (!trusts(bundle, leaf)) this.fail(`${name} serves a leaf that clients do not trust`);
    }
  }

  /** Members that run can open connections both ways, and no two are more than one stage apart. */
  private checkNeighbours(): void {
    const running = this.world.raft.members.filter((member) => member.process);
    for (const a of running) {
      for (const b of running) {
        if (a === b) continue;
        if (a.name < b.name && !adjacent(a.process!.stage, b.process!.stage))
          this.fail(`${a.name} and ${b.name} are on stages that cannot talk`);
        const refused = this.podsReplaced || this.world.distrusts(a) || this.world.distrusts(b);
        if (!refused && !this.world.raft.canDial(a, b)) this.fail(`${a.name} cannot reach ${b.name}`);
      }
    }
  }

  /** A pod that is made again now, from the template as it is, works next to all that run. */
  private checkTemplate(): void {
    const { workload, raft } = this.world;
    const next = stageOf(workload?.object.spec.template.metadata.annotations) ?? PLAIN;
    for (const member of raft.members) {
      if (member.process && !adjacent(member.process.stage, next))
        this.fail(`the template is on a stage that cannot talk to ${member.name}`);
    }
  }
}

const RANK: Record<PlaneStage, number> = { plain: 0, bridge: 1, tls: 2 };

/** The design's table, written down a second time on purpose. */
function adjacent(a: Stage, b: Stage): boolean {
  return (["peer", "client"] as const).every((plane) => Math.abs(RANK[a[plane]] - RANK[b[plane]]) <= 1);
}
