import { createHash } from "node:crypto";
import type { EtcdSpec, IssuerRef } from "../config/types";
import type { KubeObject } from "../manifests/types";
import { awaitCertificate } from "./certificates";
import type { Ports, SecretMaterial } from "./ports";
import { FatalError } from "./wait";
import { certificatesOf, chainsTo } from "./x509";

type Target = Pick<EtcdSpec, "name" | "namespace" | "rollout">;

/** cert-manager's default for `--cluster-resource-namespace`: where the Secrets of ClusterIssuers are. */
const CLUSTER_RESOURCE_NAMESPACE = "cert-manager";

/**
 * Lets an issuer sign a throwaway certificate and returns the CA that came with it, PEM. An issuer that cannot issue
 * is found here, before anything that members use has changed.
 *
 * `further`: CAs that are trusted anyway. An issuer that names no CA of its own is sound if they cover what it issues.
 */
export async function learnCa(ports: Ports, target: Target, ref: IssuerRef, further: string): Promise<string> {
  const probe = probeCertificate(target, ref);
  const { name } = probe.metadata;
  await ports.kube.apply(probe);
  try {
    const material = await awaitCertificate(ports, target, { name, secretName: name, issuerRef: ref }, () => undefined);
    const ca = checkedCa(material.certificate, material.ca ?? "", ref, further);
    return withRoot(ca, await peekIssuer(ports, target.namespace, ref));
  } finally {
    await ports.kube.delete("cert-manager.io/v1", "Certificate", target.namespace, name);
    await ports.kube.delete("v1", "Secret", target.namespace, name);
  }
}

function checkedCa(certificate: string, ca: string, ref: IssuerRef, further: string): string {
  const label = `${ref.kind} ${ref.name}`;
  const [leaf] = certificatesOf(certificate);
  if (certificatesOf(ca).some((anchor) => anchor.fingerprint256 === leaf?.fingerprint256)) {
    throw new FatalError(
      `${label} is self-signed: each certificate would be its own CA. Use a CA issuer over a CA certificate`,
    );
  }
  if (chainsTo(certificate, `${ca}\n${further}`)) return ca;
  throw new FatalError(
    ca.includes("BEGIN CERTIFICATE")
      ? `what ${label} issues chains neither to the CA that it names nor to etcd:tls.trustedCAs`
      : `${label} gives no CA certificate (ca.crt is empty), so nobody could verify what it issues. Name its CA in etcd:tls.trustedCAs, or use a CA or Vault issuer`,
  );
}

/**
 * An issuer whose Secret holds an intermediate alone names that as its CA. Many TLS libraries accept only a
 * self-signed anchor, so the root is added where the issuer's own Secret has it under `ca.crt`.
 */
function withRoot(ca: string, issuer: SecretMaterial | undefined): string {
  const anchors = certificatesOf(ca);
  const lacksRoot = anchors.some((anchor) => !anchor.checkIssued(anchor));
  if (!lacksRoot || !issuer) return ca;
  const chain = `${issuer.certificate}\n${issuer.ca ?? ""}`;
  const roots = certificatesOf(chain).filter((candidate) => candidate.checkIssued(candidate));
  const fitting = roots.filter((root) =>
    anchors.some((anchor) => chainsTo(`${anchor.toString()}${chain}`, root.toString())),
  );
  return [ca, ...fitting.map((root) => root.toString())].join("\n");
}

function probeCertificate({ name: cluster, namespace }: Target, ref: IssuerRef): KubeObject {
  const name = `${cluster}-probe-${createHash("sha256").update(JSON.stringify(ref)).digest("hex").slice(0, 8)}`;
  return {
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: { name, namespace, labels: { "app.kubernetes.io/instance": cluster } },
    spec: {
      secretName: name,
      duration: "1h0m0s",
      commonName: "pulumi-etcd-probe",
      dnsNames: [`${cluster}.${namespace}.svc`],
      usages: ["server auth", "client auth"],
      privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
      issuerRef: { group: ref.apiGroup, kind: ref.kind, name: ref.name },
    },
  };
}

/**
 * The CA of an issuer as far as it can be seen without asking it: cert-manager's CA issuers name the Secret that holds
 * it. `undefined` for other issuers, and where the Secret may not be read. Changes nothing, so it serves previews.
 */
export async function peekCa(ports: Ports, namespace: string, ref: IssuerRef): Promise<string | undefined> {
  const seen = await peekIssuer(ports, namespace, ref);
  if (!seen) return undefined;
  // As cert-manager does: the chain is tls.crt and what ca.crt begins with; the CA is its root, or what is topmost.
  const chain = [...certificatesOf(seen.certificate), ...certificatesOf(seen.ca ?? "").slice(0, 1)];
  const anchor = chain.find((certificate) => certificate.checkIssued(certificate)) ?? chain.at(-1);
  return anchor && withRoot(anchor.toString(), seen);
}

/** What a CA issuer's Secret holds. */
async function peekIssuer(ports: Ports, namespace: string, ref: IssuerRef): Promise<SecretMaterial | undefined> {
  if (ref.apiGroup !== "cert-manager.io") return undefined;
  const clusterWide = ref.kind === "ClusterIssuer";
  try {
    const issuer = await ports.kube.get("cert-manager.io/v1", ref.kind, clusterWide ? undefined : namespace, ref.name);
    const secretName = (issuer?.spec as { ca?: { secretName?: string } } | undefined)?.ca?.secretName;
    if (!secretName) return undefined;
    const home = clusterWide ? CLUSTER_RESOURCE_NAMESPACE : namespace;
    return await ports.kube.secretMaterial(home, secretName);
  } catch {
    // Not being allowed to look is no reason to stop: the issuer is asked when the update runs.
    return undefined;
  }
}
