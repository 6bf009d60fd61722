import { minorOf } from "../../../config";
import type {
  Authentication,
  ClientCredentials,
  EtcdPort,
  Member,
  MemberAddress,
  MemberVersions,
  PodAddress,
} from "../../../rollout/ports";
import { trusts } from "./cert-manager";
import type { EtcdProcess, RaftMember } from "./raft";
import type { World } from "./world";

/** Thrown by the thousand, and nobody reads where from: a stack trace would cost more than the call. */
class Hiccup extends Error {
  constructor(message: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

class Unreachable extends Hiccup {}
class Refused extends Hiccup {}

/** etcd's API over the simulated world: each call reaches one member, the way its client port serves. */
export class SimulatedEtcd implements EtcdPort {
  constructor(
    private readonly world: World,
    /** Called when leadership is moved on somebody's request. */
    private readonly moved: (from: string, to: string) => void = () => {},
  ) {}

  async status(address: MemberAddress) {
    const { member, process } = this.enter(address);
    const { raft } = this.world;
    const leader = raft.leaderSeenBy(member);
    return {
      id: member.id,
      leader: leader?.id ?? "0",
      term: BigInt(raft.term),
      raftIndex: BigInt(member.stored),
      appliedIndex: BigInt(Math.min(member.stored, raft.committed)),
      isLearner: member.isLearner,
      version: process.version,
      errors: leader ? [] : ["etcdserver: no leader"],
    };
  }

  async memberList(address: MemberAddress): Promise<Member[]> {
    this.reachQuorum(address);
    return this.world.raft.members.map(({ id, name, peerUrls, clientUrls, isLearner }) => {
      return { id, name, peerUrls: [...peerUrls], clientUrls: [...clientUrls], isLearner };
    });
  }

  async updatePeerUrls(address: MemberAddress, id: string, peerUrls: string[]) {
    this.reachQuorum(address);
    const member = this.world.raft.members.find((candidate) => candidate.id === id);
    if (!member) throw new Error("etcdserver: member not found");
    member.peerUrls = [...peerUrls];
    this.world.raft.changed();
  }

  async moveLeader(address: MemberAddress, transfereeId: string) {
    const { member } = this.reachQuorum(address);
    const { raft } = this.world;
    const heir = raft.members.find((candidate) => candidate.id === transfereeId);
    if (raft.leader !== member) throw new Error("etcdserver: not leader");
    if (!heir || heir.isLearner) throw new Error("etcdserver: leader transferee is not a voter");
    if (!raft.leads(heir) || heir.stored < raft.committed) throw new Error("etcdserver: leader transfer timed out");
    if (heir === member) return;
    raft.moveLeader(heir);
    this.moved(member.name, heir.name);
  }

  async versions(address: MemberAddress): Promise<MemberVersions> {
    const { member, process } = this.enter(address);
    const { cluster, downgradeTo } = this.world.raft.versions;
    const { version: server, snapshots } = process;
    if (minorOf(server) === "3.5") return { server, cluster, snapshots };
    return {
      server,
      cluster,
      snapshots,
      storage: `${member.data.storage}.0`,
      ...(downgradeTo !== undefined && { downgradeTo: `${downgradeTo}.0` }),
    };
  }

  async setDowngrade(address: MemberAddress, minor: string | undefined) {
    this.reachQuorum(address);
    const { versions } = this.world.raft;
    if (minor === undefined) versions.cancel();
    else versions.enable(minor);
  }

  async alarms(address: MemberAddress) {
    this.reachQuorum(address);
    return [];
  }

  async authentication(address: MemberAddress): Promise<Authentication> {
    this.reach(address);
    const denied = this.denied(address);
    if (denied) return { on: true, denied };
    this.reachQuorum(address);
    return { on: this.world.etcdUser !== undefined };
  }

  async linearizableRead(address: MemberAddress) {
    this.reachQuorum(address);
  }

  async probe(address: MemberAddress) {
    try {
      this.reach(address);
      return "accepted" as const;
    } catch (error) {
      return error instanceof Refused ? ("refused" as const) : ("unreachable" as const);
    }
  }

  async identity(address: PodAddress) {
    return this.find(address).member.id;
  }

  async vitals(address: PodAddress) {
    const { member, process } = this.find(address);
    const { version } = process;
    return { id: member.id, version, leads: this.world.raft.leader === member && this.world.raft.hasQuorum() };
  }

  async servedCertificate(address: PodAddress, port: number, credentials: ClientCredentials | undefined) {
    const { process } = this.find(address);
    // TLS 1.2 ends the handshake itself where the client's certificate does not do; TLS 1.3 only what comes after it.
    const { extraArgs, tls } = this.world.spec;
    const asks = port === 2380 || tls?.client.auth !== "none";
    if (extraArgs["tls-max-version"] === "TLS1.2" && asks && !trusts(process.trust, credentials?.certificate))
      throw new Refused(`${address.pod}:${port}: no TLS handshake`);
    const leaf = port === 2380 ? process.peerLeaf() : process.serverLeaf();
    if (!leaf) throw new Refused(`${address.pod}:${port} serves no TLS`);
    return leaf;
  }

  private find({ pod }: PodAddress): { member: RaftMember; process: EtcdProcess } {
    const member = this.world.raft.members.find((candidate) => candidate.name === pod);
    const { process } = member ?? {};
    if (!member || !process || this.world.now() < process.servingFrom) throw new Unreachable(`${pod}: no connection`);
    return { member, process };
  }

  /** Connects and is let in, or not, as the member's client stage says. */
  private reach(address: MemberAddress) {
    const found = this.find(address);
    const { stage, trust } = found.process;
    const { scheme, credentials } = address;
    if (scheme === "http") {
      if (stage.client === "tls") throw new Refused(`${address.pod}: client sent an HTTP request to an HTTPS server`);
      return found;
    }
    if (stage.client === "plain") throw new Refused(`${address.pod}: first record does not look like a TLS handshake`);
    if (!trusts(credentials?.caBundle ?? "", found.process.serverLeaf()))
      throw new Refused(`${address.pod}: certificate signed by unknown authority`);
    if (!trusts(trust, credentials?.certificate)) throw new Refused(`${address.pod}: bad certificate`);
    return found;
  }

  /** As etcd 3.6.16 does, which tells nobody how it is whom it does not know. */
  private enter(address: MemberAddress) {
    const found = this.reach(address);
    const denied = this.denied(address);
    if (denied) throw new Error(denied);
    return found;
  }

  /** A client certificate names the user root; a password comes before it. */
  private denied({ scheme, credentials, user }: MemberAddress): string | undefined {
    const { etcdUser } = this.world;
    if (!etcdUser) return undefined;
    if (user) {
      const same = user.name === etcdUser.name && user.password === etcdUser.password;
      return same ? undefined : "etcdserver: authentication failed, invalid user ID or password";
    }
    return scheme === "https" && credentials?.certificate ? undefined : "etcdserver: user name is empty";
  }

  private reachQuorum(address: MemberAddress) {
    const found = this.enter(address);
    if (!this.world.raft.leaderSeenBy(found.member)) throw new Error("etcdserver: request timed out");
    return found;
  }
}
