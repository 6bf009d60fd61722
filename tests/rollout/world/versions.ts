import { isNewerMinor, type Minor, minorOf, minorsBetween, nextMinor } from "../../../config";
import type { EtcdProcess, Raft, RaftMember } from "./raft";
import type { Durations } from "./timeline";

/** What a running member is, as far as versions go. */
export interface MemberVersion {
  version: string;
  /** Snapshots that the process has written to disk. */
  snapshots: number;
}

/** A member's data, which outlives its process. */
export interface VersionedData {
  /** The release that can read it. */
  storage: Minor;
  /** Whether entries that 3.5 wrote come after its last snapshot: 3.7 reads them again, and ends of it. */
  bygone: boolean;
}

/** What etcd's members agree on about versions, as its leader's monitor decides it every few seconds. */
export class ClusterVersions {
  cluster: Minor;
  downgradeTo: Minor | undefined;
  /** When what is due next is done. */
  private due: number | undefined;
  private migratesFrom = 0;

  constructor(
    version: string,
    private readonly durations: Durations,
  ) {
    this.cluster = minorOf(version);
  }

  /** Why a member would not start; undefined where it does. */
  refuses({ name, data }: RaftMember, version: string): string | undefined {
    const minor = minorOf(version);
    const started = `${name} is started on ${version}`;
    if (isNewerMinor(this.cluster, minor)) return `${started}, and the cluster speaks ${this.cluster}`;
    if (minorsBetween(this.cluster, minor) > 1) return `${started}, two minor releases after ${this.cluster}`;
    if (isNewerMinor(data.storage, minor)) return `${started}, and its data is of ${data.storage}`;
    if (data.bygone && isNewerMinor(minor, "3.6")) return `${started}, and its log has entries of 3.5`;
    return undefined;
  }

  /** A member of 3.5 says who it is, through the log. */
  started(version: string, members: RaftMember[]): void {
    if (minorOf(version) === "3.5") for (const { data } of members) data.bygone = true;
  }

  enable(minor: string): void {
    if (minor !== nextMinor(this.cluster, -1)) throw new Error("etcdserver: invalid downgrade target version");
    if (this.downgradeTo !== undefined) throw new Error("etcdserver: cluster has a downgrade job in progress");
    this.downgradeTo = minorOf(minor);
  }

  cancel(): void {
    this.downgradeTo = undefined;
  }

  tick(now: number, raft: Raft): void {
    const processes = raft.members.map(({ process }) => process);
    if (now >= this.migratesFrom) {
      for (const { process, data } of raft.members) if (process) data.storage = this.storageOf(process);
    }
    if (!raft.hasQuorum() || processes.some((process) => process === undefined)) return;
    const next = this.decide(processes as EtcdProcess[]);
    if (!next) {
      this.due = undefined;
      return;
    }
    this.due ??= now + this.durations.between(0, 4000);
    if (now < this.due) return;
    this.due = undefined;
    next();
    this.migratesFrom = now + this.durations.between(0, 3000);
  }

  /** Members before 3.6 leave no note of the release in their data. */
  private storageOf({ version }: EtcdProcess): Minor {
    return minorOf(version) === "3.5" ? "3.5" : this.cluster;
  }

  /** What the monitor would do now; it knows the versions of all members, or does nothing. */
  private decide(processes: EtcdProcess[]): (() => void) | undefined {
    const minors = processes.map(({ version }) => minorOf(version)).sort((a, b) => minorsBetween(b, a));
    const [oldest] = minors;
    const { cluster, downgradeTo: to } = this;
    if (to === undefined) return isNewerMinor(oldest!, cluster) ? () => this.speak(oldest!) : undefined;
    if (minors.every((minor) => minor === to)) return () => this.cancel();
    if (to !== nextMinor(cluster, -1) || to !== nextMinor(oldest!, -1)) return undefined;
    return () => {
      this.speak(to);
      for (const process of processes) process.snapshots += 1;
      this.snapshot();
    };
  }

  private speak(minor: Minor): void {
    this.cluster = minor;
  }

  /** Called when every member has written a snapshot. */
  snapshot: () => void = () => {};
}
