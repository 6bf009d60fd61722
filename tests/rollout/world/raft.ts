import type { EtcdSpec } from "../../../config";
import { clientUrl, memberName, minorOf, peerUrl } from "../../../config";
import type { Stage } from "../../../manifests";
import type { Durations } from "./timeline";
import { ClusterVersions, type MemberVersion, type VersionedData } from "./versions";

/** A running etcd process: what it read when it started, and what it re-reads. */
export interface EtcdProcess extends MemberVersion {
  stage: Stage;
  /** CA certificates, read once at start. */
  trust: string;
  /** The leaf it shows to peers: re-read on every handshake, so it follows the mounted files. */
  peerLeaf: () => string | undefined;
  serverLeaf: () => string | undefined;
  startedAt: number;
  /** Answers clients from then on: a pod may be Ready before. */
  servingFrom: number;
  /** Has caught up with the leader from then on. */
  caughtUpAt: number;
}

/** A member in the raft membership. What it has stored outlives its process: it is on its volume. */
export interface RaftMember {
  id: string;
  name: string;
  ordinal: number;
  peerUrls: readonly string[];
  clientUrls: string[];
  isLearner: boolean;
  /** Number of entries on its volume. */
  stored: number;
  data: VersionedData;
  process?: EtcdProcess;
}

/** Whether a leaf leads to one of the CA certificates of a bundle. */
export type Trusts = (bundle: string, leaf: string | undefined) => boolean;

/** The etcd members, with what matters of raft: who can talk to whom, who leads, what is committed. */
export class Raft {
  members: RaftMember[] = [];
  voters: RaftMember[] = [];
  leader: RaftMember | undefined;
  readonly versions: ClusterVersions;
  term = 1;
  /** Entries that a majority has stored: each is a write that somebody was told is safe. */
  committed = 0;
  lastCommitAt = 0;
  /** Counts what changes who can reach whom. */
  topology = 0;
  private leaderlessSince: number | undefined;
  private electionMs = 0;
  majority = 1;
  /** Who can dial whom, and who would have a majority: known until the topology changes. */
  private dials: (boolean | undefined)[] = [];
  private majorities: (boolean | undefined)[] = [];
  private readonly open = new WeakMap<EtcdProcess, Set<EtcdProcess>>();

  constructor(
    private readonly spec: EtcdSpec,
    private readonly trusts: Trusts,
    private readonly durations: Durations,
  ) {
    this.versions = new ClusterVersions(spec.version, durations);
    this.versions.snapshot = () => {
      for (const { data } of this.members) data.bygone = false;
    };
  }

  /** A cluster's first start: every member is registered under the URL that it listens on. */
  bootstrap(scheme: "http" | "https", learner?: number): void {
    this.members = Array.from({ length: this.spec.replicas }, (_, ordinal) => ({
      id: `a${ordinal}`,
      name: memberName(this.spec, ordinal),
      ordinal,
      peerUrls: [peerUrl(this.spec, ordinal, scheme)],
      clientUrls: [clientUrl(this.spec, ordinal, scheme)],
      isLearner: ordinal === learner,
      stored: 0,
      data: { storage: minorOf(this.spec.version), bygone: false },
    }));
    this.changed();
  }

  /** To be called when the membership, a process, its files or a registered URL has changed. */
  changed(): void {
    this.voters = this.members.filter((member) => !member.isLearner);
    this.majority = Math.floor(this.voters.length / 2) + 1;
    this.topology += 1;
    this.dials = [];
    this.majorities = [];
  }

  /** Whether `from` can open a connection to `to`. */
  canDial(from: RaftMember, to: RaftMember): boolean {
    const pair = from.ordinal * 100 + to.ordinal;
    this.dials[pair] ??= this.dial(from, to);
    return this.dials[pair]!;
  }

  /** Dialling rotates through the registered URLs. */
  private dial(from: RaftMember, to: RaftMember): boolean {
    const [dialler, listener] = [from.process, to.process];
    if (!dialler || !listener) return false;
    const scheme = listener.stage.peer === "tls" ? "https" : "http";
    if (!to.peerUrls.includes(peerUrl(this.spec, to.ordinal, scheme))) return false;
    if (scheme === "http") return true;
    return (
      dialler.stage.peer !== "plain" &&
      this.trusts(dialler.trust, listener.peerLeaf()) &&
      this.trusts(listener.trust, dialler.peerLeaf())
    );
  }

  /** Messages flow over whichever connection could be made, in either direction, or is open since earlier. */
  linked(a: RaftMember, b: RaftMember): boolean {
    if (a === b) return a.process !== undefined;
    return this.canDial(a, b) || this.canDial(b, a) || this.isOpen(a, b);
  }

  /** Certificates are looked at when a connection is made: those between processes that run now outlive other leaves. */
  keepConnections(): void {
    for (const a of this.members)
      for (const b of this.members) if (a !== b && this.linked(a, b)) this.remember(a.process!, b.process!);
  }

  private remember(a: EtcdProcess, b: EtcdProcess): void {
    this.open.set(a, (this.open.get(a) ?? new Set()).add(b));
  }

  private isOpen({ process: a }: RaftMember, { process: b }: RaftMember): boolean {
    return a !== undefined && b !== undefined && this.open.get(a)?.has(b) === true;
  }

  /** The leader that a member sees. */
  leaderSeenBy(member: RaftMember): RaftMember | undefined {
    const { leader } = this;
    return leader && this.leads(leader) && this.linked(member, leader) ? leader : undefined;
  }

  /** Whether there is a leader with a majority behind it: what every linearizable request needs. */
  hasQuorum(): boolean {
    return this.leader !== undefined && this.leads(this.leader);
  }

  /** Whether this member, as leader, would have a majority of voters linked to it. */
  leads(candidate: RaftMember): boolean {
    this.majorities[candidate.ordinal] ??=
      this.voters.filter((voter) => this.linked(candidate, voter)).length >= this.majority;
    return this.majorities[candidate.ordinal]!;
  }

  moveLeader(to: RaftMember): void {
    this.leader = to;
    this.term += 1;
  }

  tick(now: number): void {
    if (this.hasQuorum()) {
      this.leaderlessSince = undefined;
      this.replicate(now);
    } else this.elect(now);
    this.versions.tick(now, this);
  }

  private elect(now: number): void {
    if (this.leaderlessSince === undefined) {
      this.leaderlessSince = now;
      this.electionMs = this.durations.between(300, 2500);
    }
    if (now - this.leaderlessSince < this.electionMs) return;
    const next = this.durations.pick(this.voters.filter((voter) => this.electable(voter)));
    if (next) this.moveLeader(next);
    this.leaderlessSince = undefined;
  }

  /** A majority must grant its vote: nobody votes for a member that has stored less than itself. */
  private electable(candidate: RaftMember): boolean {
    if (!candidate.process) return false;
    const granting = this.voters.filter((voter) => this.linked(candidate, voter) && voter.stored <= candidate.stored);
    return granting.length >= this.majority;
  }

  /** One write of a client that never rests; the leader acknowledges it once a majority has stored it. */
  private replicate(now: number): void {
    const { leader } = this;
    if (!leader) return;
    const entry = Math.max(leader.stored, this.committed) + 1;
    const following = this.members.filter(
      (member) => this.linked(leader, member) && (member === leader || now >= (member.process?.caughtUpAt ?? now)),
    );
    leader.stored = entry;
    for (const member of following) member.stored = entry;
    if (following.filter((member) => !member.isLearner).length < this.majority) return;
    this.committed = entry;
    this.lastCommitAt = now;
  }
}
