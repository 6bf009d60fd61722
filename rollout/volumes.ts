import { memberName } from "../config/names";
import type { ConfigProblem, EtcdSpec } from "../config/types";
import { DATA_VOLUME, finalStage } from "../manifests";
import type { KubeObject } from "../manifests/types";
import { peerScheme } from "./plan";
import type { Ports } from "./ports";

/** On a member's PersistentVolumeClaim: the scheme that the members in its data are registered under. */
export const PEER_SCHEME = "pulumi-etcd/peer-scheme";

/** The claims outlive the workload, and no Pulumi resource stands for them. */
const VOLUME_MANAGER = "pulumi-etcd-volumes";

export function claimNames(spec: EtcdSpec): string[] {
  return Array.from({ length: spec.replicas }, (_, ordinal) => `${DATA_VOLUME}-${memberName(spec, ordinal)}`);
}

/** Notes on every volume how its members are registered, for a cluster that is made on these volumes again. */
export async function markVolumes(ports: Ports, spec: EtcdSpec): Promise<void> {
  const annotations = { [PEER_SCHEME]: peerScheme(finalStage(spec)) };
  for (const name of claimNames(spec)) {
    const metadata = { name, namespace: spec.namespace, annotations };
    await ports.kube.apply(
      { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata },
      { fieldManager: VOLUME_MANAGER },
    );
  }
}

/**
 * Volumes of an earlier cluster hold a raft membership with peer URLs. Members that listen on another scheme would
 * never reach each other, and there is no quorum that could register them anew.
 */
export async function checkVolumes(ports: Ports, spec: EtcdSpec): Promise<ConfigProblem[]> {
  const wanted = peerScheme(finalStage(spec));
  const claims = await Promise.all(
    claimNames(spec).map((name) => ports.kube.get("v1", "PersistentVolumeClaim", spec.namespace, name)),
  );
  const schemeOf = (claim: KubeObject | undefined) => claim?.metadata.annotations?.[PEER_SCHEME] ?? wanted;
  const other = claims.find((claim) => schemeOf(claim) !== wanted);
  if (!other) return [];
  const was = schemeOf(other);
  return [
    {
      path: "etcd:tls",
      value: spec.tls ? "set" : "absent",
      rule: `the volumes of an earlier cluster are still there (PersistentVolumeClaim ${spec.namespace}/${other.metadata.name}), and their members know each other by ${was}: on ${wanted} they would never find each other`,
      mend: `Start the cluster with TLS ${was === "https" ? "as it was" : "off"} and change it once it runs, or delete the PersistentVolumeClaims, and the data with them`,
    },
  ];
}
