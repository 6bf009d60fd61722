import { createHash } from "node:crypto";
import { trustBundleName } from "../config/names";
import type { EtcdSpec, IssuerRef } from "../config/types";
import { normalizeTrust, renderTrustBundle, trustRevision } from "../manifests";
import type { KubeObject } from "../manifests/types";
import { awaitCertificate } from "./certificates";
import type { Ports } from "./ports";
import { FatalError } from "./wait";
import { chainsTo } from "./x509";

/** Whose trust bundle it is, and which issuers' CAs belong into it. */
export interface TrustTarget extends Pick<EtcdSpec, "name" | "namespace" | "rollout"> {
  issuers: IssuerRef[];
}

export interface TrustState {
  revision: string;
  caBundle: string;
}

/**
 * Widens the trust bundle of a cluster to every CA that the issuers sign with, keeping what it holds
 * already. The CAs are learned by asking: each issuer issues a throwaway certificate first, so an issuer that cannot
 * issue is found before anything that members use has changed.
 */
export async function widenTrust(ports: Ports, spec: TrustTarget): Promise<TrustState> {
  const learned: string[] = [];
  for (const ref of spec.issuers) {
    ports.report.step({ step: `ask ${ref.kind} ${ref.name} for its CA` });
    learned.push(await learnCa(ports, spec, ref));
  }
  const before = (await ports.kube.configMapData(spec.namespace, trustBundleName(spec)))?.["ca.crt"] ?? "";
  const caBundle = normalizeTrust([before, ...learned].join("\n"));
  await ports.kube.apply(renderTrustBundle(spec, caBundle));
  return { revision: trustRevision(caBundle), caBundle };
}

/** Lets an issuer sign a throwaway certificate and returns the CA that came with it, PEM. */
async function learnCa(ports: Ports, spec: TrustTarget, ref: IssuerRef): Promise<string> {
  const probe = probeCertificate(spec, ref);
  const { name } = probe.metadata;
  await ports.kube.apply(probe);
  try {
    let trouble: string | undefined;
    const material = await awaitCertificate(ports, spec, name, name, ref, (candidate) => {
      trouble = caTrouble(candidate.certificate, candidate.ca, ref);
      return undefined;
    });
    if (trouble || !material.ca) throw new FatalError(trouble);
    return material.ca;
  } finally {
    await ports.kube.delete("cert-manager.io/v1", "Certificate", spec.namespace, name);
    await ports.kube.delete("v1", "Secret", spec.namespace, name);
  }
}

function caTrouble(certificate: string, ca: string | undefined, ref: IssuerRef): string | undefined {
  const label = `${ref.kind} ${ref.name}`;
  if (!ca?.includes("BEGIN CERTIFICATE")) {
    return `${label} gives no CA certificate (ca.crt is empty), so nobody could verify what it issues. Use a CA or Vault issuer`;
  }
  if (ca.trim() === certificate.trim()) {
    return `${label} is self-signed: each certificate would be its own CA. Use a CA issuer over a CA certificate`;
  }
  if (!chainsTo(certificate, ca)) return `what ${label} issues does not chain to the CA that it names`;
  return undefined;
}

function probeCertificate(spec: TrustTarget, ref: IssuerRef): KubeObject {
  const name = `${spec.name}-probe-${createHash("sha256").update(JSON.stringify(ref)).digest("hex").slice(0, 8)}`;
  return {
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: { name, namespace: spec.namespace, labels: { "app.kubernetes.io/instance": spec.name } },
    spec: {
      secretName: name,
      duration: "1h0m0s",
      commonName: "pulumi-etcd-probe",
      dnsNames: [`${spec.name}.${spec.namespace}.svc`],
      usages: ["server auth", "client auth"],
      privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
      issuerRef: { group: ref.apiGroup, kind: ref.kind, name: ref.name },
    },
  };
}
