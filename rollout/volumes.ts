import { memberName } from "../config/names";
import type { ConfigProblem, EtcdSpec } from "../config/types";
import { DATA_VOLUME, finalStage } from "../manifests";
import type { KubeObject } from "../manifests/types";
import { peerScheme } from "./plan";
import type { Ports } from "./ports";

/** On a member's PersistentVolumeClaim: the scheme that the members in its data are registered under. */
export const PEER_SCHEME = "pulumi-etcd/peer-scheme";
/** How many members there are in its data. */
const MEMBERS = "pulumi-etcd/members";
/**
 * The uid of the workload that ran the cluster last. etcd's own cluster ID does not tell two clusters apart that began
 * under one name: it is computed from their URLs and token.
 */
const CLUSTER = "pulumi-etcd/cluster";

/** The claims outlive the workload, and no Pulumi resource stands for them. */
const VOLUME_MANAGER = "pulumi-etcd-volumes";

/** `replicas` is this at most: an earlier cluster's claims are looked for up to here. */
const MOST_MEMBERS = 7;

export function claimNames(spec: EtcdSpec): string[] {
  return Array.from({ length: spec.replicas }, (_, ordinal) => claimName(spec, ordinal));
}

export function claimName(spec: EtcdSpec, ordinal: number): string {
  return `${DATA_VOLUME}-${memberName(spec, ordinal)}`;
}

/** Notes on every volume what is in it, for a cluster that is made on these volumes again. */
export async function markVolumes(ports: Ports, spec: EtcdSpec): Promise<void> {
  const workload = await ports.kube.workload(spec);
  const annotations = {
    [PEER_SCHEME]: peerScheme(finalStage(spec)),
    [MEMBERS]: String(spec.replicas),
    ...(workload && { [CLUSTER]: workload.uid }),
  };
  for (let ordinal = 0; ordinal < spec.replicas; ordinal++) {
    const metadata = { name: claimName(spec, ordinal), namespace: spec.namespace, annotations };
    await ports.kube.apply(
      { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata },
      { fieldManager: VOLUME_MANAGER },
    );
  }
}

interface Claim {
  ordinal: number;
  name: string;
  scheme: string | undefined;
  members: number | undefined;
  cluster: string | undefined;
}

/**
 * Volumes of an earlier cluster hold a raft membership. A cluster that starts on volumes of another scheme or size, on
 * those of two clusters, or on less than a majority of its own, never finds a quorum, or finds one beside the data.
 * Claims of earlier releases say less: what they don't say forbids nothing.
 */
export async function checkVolumes(ports: Ports, spec: EtcdSpec): Promise<ConfigProblem[]> {
  const claims = await readClaims(ports, spec);
  const problem =
    otherScheme(spec, claims) ?? otherSize(spec, claims) ?? otherCluster(spec, claims) ?? lostMajority(spec, claims);
  return problem ? [problem] : [];
}

async function readClaims({ kube }: Ports, spec: EtcdSpec): Promise<Claim[]> {
  const ordinals = Array.from({ length: MOST_MEMBERS }, (_, ordinal) => ordinal);
  const found = await Promise.all(
    ordinals.map((ordinal) => kube.get("v1", "PersistentVolumeClaim", spec.namespace, claimName(spec, ordinal))),
  );
  return found.flatMap((claim, ordinal) => (claim ? [claimOf(claim, ordinal)] : []));
}

function claimOf({ metadata: { name, annotations } }: KubeObject, ordinal: number): Claim {
  const members = Number(annotations?.[MEMBERS]);
  return {
    ordinal,
    name,
    scheme: annotations?.[PEER_SCHEME],
    members: Number.isInteger(members) && members > 0 ? members : undefined,
    cluster: annotations?.[CLUSTER],
  };
}

const STILL_THERE = "the volumes of an earlier cluster are still there";

function named({ namespace }: EtcdSpec, claims: Claim[]): string {
  return `PersistentVolumeClaim ${claims.map(({ name }) => `${namespace}/${name}`).join(", ")}`;
}

function otherScheme(spec: EtcdSpec, claims: Claim[]): ConfigProblem | undefined {
  const wanted = peerScheme(finalStage(spec));
  const other = claims.find(({ scheme, ordinal }) => ordinal < spec.replicas && scheme && scheme !== wanted);
  if (!other) return undefined;
  return {
    path: "etcd:tls",
    value: spec.tls ? "set" : "absent",
    rule: `${STILL_THERE} (${named(spec, [other])}), and their members know each other by ${other.scheme}: on ${wanted} they would never find each other`,
    mend: `Start the cluster with TLS ${other.scheme === "https" ? "as it was" : "off"} and change it once it runs, or delete the PersistentVolumeClaims, and the data with them`,
  };
}

function otherSize(spec: EtcdSpec, claims: Claim[]): ConfigProblem | undefined {
  const { replicas } = spec;
  const others = claims.filter(({ members, ordinal }) => ordinal >= replicas || (members ?? replicas) !== replicas);
  if (others.length === 0) return undefined;
  const least = Math.max(...claims.map(({ ordinal }) => ordinal)) + 1;
  const noted = others.find(({ members }) => members !== undefined)?.members;
  const was = noted ?? least;
  const size = noted === undefined ? `${least} members or more` : `${was} member${was === 1 ? "" : "s"}`;
  return {
    path: "etcd:replicas",
    value: replicas,
    rule: `${STILL_THERE} (${named(spec, others)}), of ${size}: members without data would begin a second cluster beside theirs, or those with data would wait for members that are not there`,
    mend: `Set etcd:replicas to ${was}, or delete the PersistentVolumeClaims, and the data with them`,
  };
}

function otherCluster(spec: EtcdSpec, claims: Claim[]): ConfigProblem | undefined {
  const marked = claims.filter(({ cluster }) => cluster !== undefined);
  const [first] = marked;
  const others = marked.filter(({ cluster }) => cluster !== first?.cluster);
  if (!first || others.length === 0) return undefined;
  return {
    path: "etcd:name",
    value: spec.name,
    rule: `the volumes are of different clusters: ${named(spec, others)} not of the one that ${first.name} is of. Their members would form two clusters, or none`,
    mend: "Bring back the PersistentVolumeClaims of one cluster, or delete all of them and restore a snapshot into a new cluster",
  };
}

/** Members without data could outvote the ones that have it. */
function lostMajority(spec: EtcdSpec, claims: Claim[]): ConfigProblem | undefined {
  const { replicas } = spec;
  const marked = claims.some(({ members }) => members !== undefined);
  if (!marked || claims.length > replicas / 2) return undefined;
  return {
    path: "etcd:replicas",
    value: replicas,
    rule: `of the ${replicas} volumes of an earlier cluster only ${claims.length} ${claims.length === 1 ? "is" : "are"} there (${named(spec, claims)}): the members without data are a majority, and could form an empty cluster beside it`,
    mend: "Bring the other PersistentVolumeClaims back, or delete those that are left and restore a snapshot into a new cluster",
  };
}
