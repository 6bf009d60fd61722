import { createHash } from "node:crypto";
import { certificateName } from "../config/names";
import type { Alias, CertificateSpec, EtcdSpec, IssuerRef } from "../config/types";
import { renderCertificates } from "../manifests";
import type { KubeObject } from "../manifests/types";
import { CERT_MANAGER, NO_FAILURE } from "./certificate-status";
import { awaitCertificate } from "./certificates";
import { type ChainTerms, chainFault, purposesOf } from "./chain";
import type { Ports, Right, SecretMaterial } from "./ports";
import { FatalError } from "./wait";
import { certificatesOf, chainsTo } from "./x509";

type Target = Pick<EtcdSpec, "name" | "namespace">;

/** cert-manager's default for `--cluster-resource-namespace`: where the Secrets of ClusterIssuers are. */
const CLUSTER_RESOURCE_NAMESPACE = "cert-manager";

/** Label of a throwaway Certificate and its Secret: the cluster on whose behalf an issuer was asked. */
const PROBE_OF = "pulumi-etcd/probe-of";

/**
 * Lets an issuer sign a throwaway certificate and returns the CA that came with it, PEM. An issuer that cannot issue
 * is found here, before anything that members use has changed.
 *
 * `further`: CAs that are trusted anyway. An issuer that names no CA of its own is sound if they cover what it issues.
 */
export async function learnCa(ports: Ports, spec: EtcdSpec, ref: IssuerRef, further: string): Promise<string> {
  const probe = probeCertificate(spec, ref);
  const { name } = probe.metadata;
  await ports.kube.apply(probe);
  try {
    const awaited = { name, secretName: name, issuerRef: ref, failedBefore: NO_FAILURE };
    const material = await awaitCertificate(ports, spec, awaited, () => undefined);
    const terms = { now: ports.clock.now(), purposes: purposesOf(...certificatesFrom(spec, ref).map(aliasOf)) };
    const ca = checkedCa(material.certificate, material.ca ?? "", ref, further, terms);
    return withRoot(ca, await peekIssuer(ports, spec.namespace, ref));
  } finally {
    await ports.kube.delete(CERT_MANAGER, "Certificate", spec.namespace, name);
    await ports.kube.delete("v1", "Secret", spec.namespace, name);
  }
}

/**
 * Deletes what a killed update left of its probes: this cluster's only, and only ours. Run at the beginning of every
 * update, so that a config that was reverted meanwhile leaves nothing behind either.
 */
export async function sweepProbes(ports: Ports, { name: cluster, namespace }: Target): Promise<void> {
  const { kube } = ports;
  if (!(await kube.serves(CERT_MANAGER, "Certificate"))) return;
  // Who may not see probes (a cluster in plaintext needs no such right) has never made one.
  if ((await kube.missingRights(sweepRights(namespace))).length > 0) return;
  const selector = `${PROBE_OF}=${cluster}`;
  // Certificates first: cert-manager would make the Secret of one that is there again.
  const kinds = [
    [CERT_MANAGER, "Certificate"],
    ["v1", "Secret"],
  ] as const;
  for (const [apiVersion, kind] of kinds) {
    for (const { metadata } of await kube.list(apiVersion, kind, namespace, selector))
      await kube.delete(apiVersion, kind, namespace, metadata.name);
  }
}

function sweepRights(namespace: string): Right[] {
  const kinds = { "cert-manager.io": "certificates", "": "secrets" };
  return Object.entries(kinds).flatMap(([group, resource]) =>
    ["list", "delete"].map((verb) => ({ group, resource, verb, namespace })),
  );
}

function checkedCa(certificate: string, ca: string, ref: IssuerRef, further: string, terms: ChainTerms): string {
  const label = `${ref.kind} ${ref.name}`;
  const [leaf] = certificatesOf(certificate);
  if (certificatesOf(ca).some((anchor) => anchor.fingerprint256 === leaf?.fingerprint256)) {
    throw new FatalError(
      `${label} is self-signed: each certificate would be its own CA. Use a CA issuer over a CA certificate`,
    );
  }
  const fault = chainFault(certificate, `${ca}\n${further}`, terms);
  if (!fault) return ca;
  if (!fault.unknown)
    throw new FatalError(`etcd would refuse what ${label} issues: ${fault.why}. Renew or replace that`);
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

/**
 * What the cluster asks of an issuer, under a name of its own: one that is strict about names, lifetimes, keys or usages
 * (roles of Vault, approver-policy) answers as it will answer to the certificate itself.
 */
function probeCertificate(spec: EtcdSpec, ref: IssuerRef): KubeObject {
  const { name: cluster, namespace } = spec;
  const name = `${cluster}-probe-${createHash("sha256").update(JSON.stringify(ref)).digest("hex").slice(0, 8)}`;
  return {
    apiVersion: CERT_MANAGER,
    kind: "Certificate",
    metadata: { name, namespace, labels: { "app.kubernetes.io/instance": cluster, [PROBE_OF]: cluster } },
    spec: {
      ...askedOf(spec, ref),
      secretName: name,
      secretTemplate: { labels: { [PROBE_OF]: cluster } },
    },
  };
}

/** The spec of the first Certificate that the issuer is to make, the server's as a rule: it has the usages of all others. */
function askedOf(spec: EtcdSpec, ref: IssuerRef): object {
  const [first] = certificatesFrom(spec, ref);
  const name = first && certificateName(spec, first.alias);
  const rendered = renderCertificates(spec).find(({ metadata }) => metadata.name === name);
  if (!rendered) throw new FatalError(`${spec.name}: no certificate is to come from ${ref.kind} ${ref.name}`);
  return rendered.spec as object;
}

function certificatesFrom({ tls }: EtcdSpec, { apiGroup, kind, name }: IssuerRef): CertificateSpec[] {
  return (tls?.certificates ?? []).filter(
    ({ issuerRef: from }) => from?.apiGroup === apiGroup && from.kind === kind && from.name === name,
  );
}

function aliasOf({ alias }: CertificateSpec): Alias {
  return alias;
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
    const issuer = await ports.kube.get(CERT_MANAGER, ref.kind, clusterWide ? undefined : namespace, ref.name);
    const secretName = (issuer?.spec as { ca?: { secretName?: string } } | undefined)?.ca?.secretName;
    if (!secretName) return undefined;
    const home = clusterWide ? CLUSTER_RESOURCE_NAMESPACE : namespace;
    return await ports.kube.secretMaterial(home, secretName);
  } catch {
    // Not being allowed to look is no reason to stop: the issuer is asked when the update runs.
    return undefined;
  }
}
