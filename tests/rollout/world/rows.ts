import { certificateName, certificateSource, type EtcdSpec, ownCertificates } from "../../../config";
import { renderCertificates } from "../../../manifests";
import {
  type CertificateSecret,
  claimSecret,
  copyGiven,
  differs,
  type LeafSecret,
  type Ports,
  releaseSecret,
  wantedCopy,
  writeOwnLeaf,
} from "../../../rollout";
import type { OwnCa } from "./own-ca";

/**
 * What Pulumi has declared between TrustBundle and Rollout: Certificates, and for each certificate something that
 * stands for its Secret. What a program no longer declares goes at the end of an update that succeeds.
 */
export class CertificateRows {
  private readonly certificates = new Set<string>();
  private readonly secrets = new Map<string, CertificateSecret>();

  /** The checks of the rows: a Secret that somebody else made is not overwritten. */
  async check(ports: Ports, spec: EtcdSpec): Promise<void> {
    for (const [key, secret] of secretsOf(spec)) if (!this.secrets.has(key)) await claimSecret(ports, secret);
  }

  async make(ports: Ports, spec: EtcdSpec, ownCa: OwnCa): Promise<void> {
    const { tls } = spec;
    if (!tls) return;
    const source = certificateSource(tls);
    for (const [key, secret] of secretsOf(spec)) this.secrets.set(key, secret);
    if (source === "issuer") return this.applyCertificates(ports, spec);
    if (source === "ca") {
      for (const leaf of ownLeaves(spec, ownCa))
        if (await differs(ports, spec, leaf)) await writeOwnLeaf(ports, spec, leaf);
      return;
    }
    for (const { alias } of tls.certificates) {
      if (await differs(ports, spec, await wantedCopy(ports, spec, alias))) await copyGiven(ports, spec, alias);
    }
  }

  private async applyCertificates(ports: Ports, spec: EtcdSpec): Promise<void> {
    for (const certificate of renderCertificates(spec)) {
      this.certificates.add(certificate.metadata.name);
      await ports.kube.apply(certificate);
    }
  }

  /** Certificates first: cert-manager would make their Secrets anew. */
  async drop(ports: Ports, spec: EtcdSpec): Promise<void> {
    const kept = new Set(renderCertificates(spec).map(({ metadata }) => metadata.name));
    for (const name of [...this.certificates].filter((each) => !kept.has(each))) {
      await ports.kube.delete("cert-manager.io/v1", "Certificate", spec.namespace, name);
      this.certificates.delete(name);
    }
    const declared = secretsOf(spec);
    for (const [key, secret] of [...this.secrets].filter(([each]) => !declared.has(each))) {
      await releaseSecret(ports, secret);
      this.secrets.delete(key);
    }
  }
}

function secretsOf(spec: EtcdSpec): Map<string, CertificateSecret> {
  const { namespace, tls } = spec;
  const source = tls && certificateSource(tls);
  return new Map(
    ownCertificates(tls).map(({ alias, secretName }) => [
      `${source} ${alias} ${secretName}`,
      { namespace, secretName, certificateName: certificateName(spec, alias) },
    ]),
  );
}

function ownLeaves(spec: EtcdSpec, ownCa: OwnCa): LeafSecret[] {
  const leaves = ownCa.makeLeaves(spec.tls!);
  return ownCertificates(spec.tls).map(({ alias, secretName }) => ({
    secretName,
    madeFor: certificateName(spec, alias),
    material: leaves.get(alias)!,
  }));
}

/** What the leaves that cert-manager does not make will be; `undefined` where preview cannot know it. */
export async function leavesOf(ports: Ports, spec: EtcdSpec, ownCa: OwnCa): Promise<string | undefined> {
  const { tls } = spec;
  if (!tls) return "";
  const source = certificateSource(tls);
  if (source === "issuer") return "";
  if (source === "ca") {
    const leaves = ownCa.knownLeaves(tls);
    return leaves && [...leaves.values()].map(({ certificate }) => certificate).join("");
  }
  const copies = await Promise.all(tls.certificates.map(({ alias }) => wantedCopy(ports, spec, alias)));
  return copies.map(({ material }) => material.certificate).join("");
}
