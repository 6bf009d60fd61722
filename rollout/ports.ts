import type { EtcdSpec } from "../config/types";
import type { KubeObject } from "../manifests/types";

/** The workload object as the API server has it. */
export interface LiveWorkload {
  kind: "StatefulSet" | "PetSet" | "HostSet";
  uid: string;
  generation: number;
  observedGeneration: number;
  replicas: number;
  updateRevision: string;
  annotations: Record<string, string>;
  /** Annotations of the pod template: stage, trust revision and template hash are read from here. */
  templateAnnotations: Record<string, string>;
  /** The whole object, for diffs of flags, volumes and mounts. */
  object: KubeObject;
}

export interface LivePod {
  name: string;
  uid: string;
  ordinal: number;
  revision: string;
  ready: boolean;
  /** Set once the pod is being deleted. */
  terminating: boolean;
  annotations: Record<string, string>;
  /** Why the pod is not running, in Kubernetes' words, such as `ImagePullBackOff: ...`. */
  trouble?: string;
}

export interface SecretMaterial {
  certificate: string;
  key: string;
  ca?: string;
}

/** State of a cert-manager Certificate or (Cluster)Issuer, as far as decisions need it. */
export interface LiveIssuer {
  ready: boolean;
  reason?: string;
  message?: string;
  /** What kind of issuer it is: the first key of spec such as `ca`, `selfSigned`, `acme`, `vault`. */
  type: string;
}

export interface ApplyOptions {
  dryRun?: boolean;
  /** Default: `pulumi-etcd`. Another one for fields that Pulumi's own apply must not take back. */
  fieldManager?: string;
}

/** A verb on a resource, such as `create` on `pods/eviction`. */
export interface Right {
  /** API group; empty: the core group. */
  group: string;
  /** Plural, with its subresource: `pods/eviction`. */
  resource: string;
  verb: string;
  /** Absent: it is needed in the whole cluster. */
  namespace?: string;
}

/** Kubernetes, as the engine sees it. Every method may throw `KubeError`. */
export interface KubePort {
  /**
   * What time it is for the API server, in milliseconds since 1970; `undefined` where it does not tell. Throws
   * `KubeError` with reason `Unreachable` and the server's address where there is no answer.
   */
  ping(): Promise<number | undefined>;
  /** Those of the rights that the API server would refuse. */
  missingRights(rights: Right[]): Promise<Right[]>;
  /** Whether the API server serves this kind (CRD present). */
  serves(apiVersion: string, kind: string): Promise<boolean>;
  workload(spec: EtcdSpec): Promise<LiveWorkload | undefined>;
  /** Pods that the workload owns, by ordinal. */
  pods(spec: EtcdSpec): Promise<LivePod[]>;
  /** Server-side apply, forced, under the field manager `pulumi-etcd`. */
  apply(object: KubeObject, options?: ApplyOptions): Promise<KubeObject>;
  get(apiVersion: string, kind: string, namespace: string | undefined, name: string): Promise<KubeObject | undefined>;
  list(apiVersion: string, kind: string, namespace: string | undefined, labelSelector?: string): Promise<KubeObject[]>;
  /** Fails with `Conflict` if an object of that name exists. */
  create(object: KubeObject): Promise<KubeObject>;
  /** Fails with `Conflict` if the object has changed since its `metadata.resourceVersion`. */
  replace(object: KubeObject): Promise<KubeObject>;
  /** Replaces the status through the status subresource; fails with `Conflict` if the object has changed since. */
  replaceStatus(object: KubeObject): Promise<void>;
  delete(apiVersion: string, kind: string, namespace: string | undefined, name: string): Promise<void>;
  /** Eviction API, with the pod's uid as precondition. `blocked`: a PodDisruptionBudget said no for now (429). */
  evict(namespace: string, pod: string, uid: string): Promise<"evicted" | "blocked" | "gone">;
  /** Deletes a pod whatever a PodDisruptionBudget says, with its uid as precondition. */
  deletePod(namespace: string, pod: string, uid: string): Promise<"deleted" | "gone">;
  /** A pod that is gone meanwhile counts as annotated: the next one starts with what is there now. */
  annotatePod(namespace: string, pod: string, annotations: Record<string, string>): Promise<void>;
  configMapData(namespace: string, name: string): Promise<Record<string, string> | undefined>;
  secretMaterial(namespace: string, name: string): Promise<SecretMaterial | undefined>;
  issuer(kind: string, namespace: string, name: string, apiGroup: string): Promise<LiveIssuer | undefined>;
}

export interface Member {
  /** Member ID in hexadecimal. */
  id: string;
  name: string;
  peerUrls: string[];
  clientUrls: string[];
  isLearner: boolean;
}

export interface MemberStatus {
  /** Member ID in hexadecimal: of the one that answered. */
  id: string;
  leader: string;
  term: bigint;
  raftIndex: bigint;
  appliedIndex: bigint;
  isLearner: boolean;
  version: string;
  errors: string[];
}

/** What a member says of versions. */
export interface MemberVersions {
  /** Of its binary, such as `3.6.17`. */
  server: string;
  /** Minor release whose protocol the cluster speaks, such as `3.6`; absent until the members have agreed on one. */
  cluster?: string;
  /** The release that its data is for, such as `3.6.0`. Members before 3.6 don't tell. */
  storage?: string;
  /** The release that a downgrade is enabled to, such as `3.5.0`. Members before 3.6 don't tell. */
  downgradeTo?: string;
  /** How many snapshots its process has written to disk. */
  snapshots: number;
}

/** How to talk to a member's client port. */
export type Scheme = "http" | "https";

/** What a client shows and trusts. Absent where the scheme is `http`. */
export interface ClientCredentials {
  caBundle: string;
  certificate?: string;
  key?: string;
}

/** etcd, as the engine sees it: each call goes to one named member through its client port. */
export interface EtcdPort {
  status(member: MemberAddress, deadlineMs: number): Promise<MemberStatus>;
  memberList(member: MemberAddress, deadlineMs: number): Promise<Member[]>;
  updatePeerUrls(member: MemberAddress, id: string, peerUrls: string[], deadlineMs: number): Promise<void>;
  /** Must be sent to the leader; the transferee must be a voter. */
  moveLeader(leader: MemberAddress, transfereeId: string, deadlineMs: number): Promise<void>;
  versions(member: MemberAddress, deadlineMs: number): Promise<MemberVersions>;
  /** Lets the cluster go down to a minor release, such as `3.6`; `undefined`: what was enabled is cancelled. */
  setDowngrade(member: MemberAddress, minor: string | undefined, deadlineMs: number): Promise<void>;
  /** Alarms that are raised, such as `NOSPACE`. */
  alarms(member: MemberAddress, deadlineMs: number): Promise<string[]>;
  /** `denied`: in etcd's own words, why the user (or having none) does not do for a walk. */
  authentication(member: MemberAddress, deadlineMs: number): Promise<Authentication>;
  /** Linearizable read of a key that needs not exist. */
  linearizableRead(member: MemberAddress, deadlineMs: number): Promise<void>;
  /**
   * Opens a connection in the given way and says what happened: `accepted` (an etcd call succeeded),
   * `refused` (the member answered the handshake or the call with a refusal), `unreachable`.
   */
  probe(member: MemberAddress, deadlineMs: number): Promise<"accepted" | "refused" | "unreachable">;
  /** ID of the member that runs there, in hexadecimal; told even where it serves no client yet. */
  identity(pod: PodAddress, deadlineMs: number): Promise<string>;
  /** As `identity`, and what else a member tells although it refuses every client. */
  vitals(pod: PodAddress, deadlineMs: number): Promise<Vitals>;
  /** The leaf certificate served on a port, PEM, without verifying it. */
  servedCertificate(
    pod: PodAddress,
    port: number,
    credentials: ClientCredentials | undefined,
    deadlineMs: number,
  ): Promise<string>;
}

/** What a member tells in the clear. */
export interface Vitals {
  /** Member ID in hexadecimal. */
  id: string;
  leads: boolean;
  /** Of its binary, such as `3.6.17`. */
  version?: string;
  /** An alarm that is raised, such as `CORRUPT`; absent if none is. */
  alarm?: string;
}

export interface PodAddress {
  namespace: string;
  pod: string;
  /** FQDN under the headless Service: the name that is verified. */
  host: string;
}

export interface MemberAddress extends PodAddress {
  scheme: Scheme;
  credentials?: ClientCredentials;
  /** As whom to ask where etcd's authentication is on. */
  user?: EtcdUser;
}

/** A user of etcd's own authentication. */
export interface EtcdUser {
  name: string;
  password: string;
}

/** Whether etcd's authentication is on, and whether it lets us do everything, as the role root does. */
export type Authentication = { on: boolean; denied?: undefined } | { on: true; denied: string };

export interface Clock {
  /** The wall clock, in milliseconds since 1970: for timestamps, and for what certificates say. It may be set anew. */
  now(): number;
  /** Milliseconds since some moment: for durations and deadlines. It never goes back. */
  monotonic(): number;
  sleep(ms: number): Promise<void>;
}

/** Conditions that KubeDB reports for the same phases. */
export type ConditionType =
  | "CertificateSynced"
  | "UpdateEtcdPetSet"
  | "RestartEtcdPods"
  | "UpdateDatabase"
  | "Successful";

export interface Condition {
  type: ConditionType;
  status: "True" | "False";
  reason: string;
  message: string;
  /** RFC 3339. */
  lastTransitionTime: string;
}

/** One line per step, for the user's eyes and for the record. */
export interface StepReport {
  /** Stable form, comparable with the plan's: `pass 1/2: restart etcd-0`. */
  step: string;
  /** What happened, such as `ready after 3.1 s`. */
  detail?: string;
  condition?: ConditionType;
}

export interface ReportPort {
  step(report: StepReport): void;
  /** What is being done right now, such as `restarting etcd-1 (2 of 3)`: shown until something else is, never kept. */
  progress?(line: string): void;
}

export interface Ports {
  kube: KubePort;
  etcd: EtcdPort;
  clock: Clock;
  report: ReportPort;
}

/** What hosts have to be asked besides what Kubernetes does by itself. */
export interface HostsPort {
  /** Starts the members whose hosts have a template and no service yet, as a StatefulSet's controller would; their names. */
  startMissing(): Promise<string[]>;
  /** Hosts that have a service or data of somebody else, one line each. */
  occupied(): Promise<string[]>;
  /** Stops the members for good, and takes away what was installed; their data stays. */
  uninstall(): Promise<void>;
}

/** The ports where the members run on hosts: `kube` stands for the hosts, too. */
export interface HostsPorts extends Ports {
  hosts: HostsPort;
}

/**
 * What only reads, and needs no turn: everything else asks the Lease first, a method that is new here as well. `get`,
 * `list`, `pods` and `workload` are left out although they read: waits poll them, and so keep the Lease alive.
 */
export const PLAIN_READS = {
  kube: ["ping", "missingRights", "serves", "configMapData", "secretMaterial", "issuer"],
  etcd: [
    "status",
    "memberList",
    "versions",
    "alarms",
    "authentication",
    "linearizableRead",
    "probe",
    "identity",
    "vitals",
    "servedCertificate",
  ],
  hosts: ["occupied"],
} as const satisfies { kube: (keyof KubePort)[]; etcd: (keyof EtcdPort)[]; hosts: (keyof HostsPort)[] };
