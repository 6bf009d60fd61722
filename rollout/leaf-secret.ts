import type { EtcdSpec } from "../config/types";
import { labels } from "../manifests";
import type { KubeObject } from "../manifests/types";
import { readBundle } from "./bundle";
import { chainFault } from "./chain";
import type { Ports, SecretMaterial } from "./ports";
import { FatalError } from "./wait";

/** On a Secret of ours: for which certificate it was made. cert-manager has an annotation of its own. */
export const MADE_FOR = "pulumi-etcd/made-for";

/**
 * cert-manager takes over a Secret that names no issuer where its leaf is what its Certificate asks for, and issues
 * nothing (SecretIssuerAnnotationsMismatch of its trigger policies). A seed names one that is nobody's.
 */
const NOT_ISSUED = { "cert-manager.io/issuer-name": "none", "cert-manager.io/issuer-kind": "None" };

type Cluster = Pick<EtcdSpec, "name" | "namespace">;

/** A Secret with a leaf, in cert-manager's layout. */
export interface LeafSecret {
  secretName: string;
  /** The certificate that it was made for, as `certificateName` has it. */
  madeFor: string;
  material: SecretMaterial;
}

/** Writes the Secret in place: members and clients that mount it see the old content or the new, and nothing between. */
export async function writeLeaf(
  ports: Ports,
  cluster: Cluster,
  leaf: LeafSecret,
  component: "certificate" | "seed" = "certificate",
): Promise<void> {
  await ports.kube.apply(rendered(cluster, leaf, component));
}

/**
 * Writes a leaf of the cluster's own CA. One that the members do not trust yet would cut off whoever serves it: where
 * the trust was not widened before (`pulumi up --target`), it throws `FatalError`.
 */
export async function writeOwnLeaf(ports: Ports, cluster: Cluster, leaf: LeafSecret): Promise<void> {
  const bundle = (await readBundle(ports, cluster)) ?? "";
  // What it is for is what the program has asked for.
  const fault = chainFault(leaf.material.certificate, bundle, { now: ports.clock.now(), purposes: [] });
  if (fault) {
    const why = fault.unknown
      ? "the members do not trust the certificate's CA yet. Run the update of the whole stack, without --target or --exclude"
      : `the members would refuse it: ${fault.why}`;
    throw new FatalError(`Secret ${cluster.namespace}/${leaf.secretName} was not written: ${why}`);
  }
  await writeLeaf(ports, cluster, leaf);
}

/** Whether the Secret is missing or holds something else. */
export async function differs(ports: Ports, { namespace }: Cluster, { secretName, material }: LeafSecret) {
  const live = await ports.kube.secretMaterial(namespace, secretName);
  const parts = ["certificate", "key", "ca"] as const;
  return live === undefined || parts.some((part) => (live[part] ?? "") !== (material[part] ?? ""));
}

function rendered(
  cluster: Cluster,
  { secretName, madeFor, material }: LeafSecret,
  component: "certificate" | "seed",
): KubeObject {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: secretName,
      namespace: cluster.namespace,
      labels: labels(cluster, component),
      annotations: { [MADE_FOR]: madeFor, ...(component === "seed" && NOT_ISSUED) },
    },
    type: "kubernetes.io/tls",
    data: {
      "tls.crt": base64(material.certificate),
      "tls.key": base64(material.key),
      "ca.crt": base64(material.ca ?? ""),
    },
  };
}
