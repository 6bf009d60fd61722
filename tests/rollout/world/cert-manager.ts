import type { KubeObject } from "../../../manifests";
import type { LiveIssuer } from "../../../rollout/ports";
import { Authority, type Leaf, type Names } from "./pki";

export interface Issuer extends LiveIssuer {
  authority: Authority;
}

/** What a Secret of a Certificate holds. */
export interface IssuedSecret extends Leaf {
  ca: string;
  object: KubeObject;
}

interface CertificateSpec extends Names {
  secretName: string;
  commonName?: string;
  issuerRef: { kind: string; name: string };
}

type CertificateObject = KubeObject & { spec: CertificateSpec; metadata: { generation?: number } };

/** Made once for all simulated worlds: thousands of worlds ask for the same certificates. */
const AUTHORITIES = new Map<string, Authority>();
const LEAVES = new Map<string, Leaf>();
const CA_OF_LEAF = new Map<string, string>();

export function authority(name: string): Authority {
  const known = AUTHORITIES.get(name) ?? Authority.root(name);
  AUTHORITIES.set(name, known);
  return known;
}

/** Issues a leaf; the same for the same serial, so that worlds stay comparable and quick. */
export function issue(from: Authority, spec: CertificateSpec, serial: number): Leaf {
  const key = JSON.stringify([from.name, from.certificate, spec, serial]);
  const known = LEAVES.get(key) ?? from.issue(spec.commonName ?? "leaf", { names: spec, serial });
  LEAVES.set(key, known);
  CA_OF_LEAF.set(known.certificate, from.certificate);
  return known;
}

/** Whether a bundle holds the CA that a leaf comes from. */
export function trusts(bundle: string, leaf: string | undefined): boolean {
  const ca = leaf === undefined ? undefined : CA_OF_LEAF.get(leaf);
  return ca !== undefined && bundle.includes(ca.trim());
}

/** cert-manager's part: makes a Secret for each Certificate, some time after it was written. */
export class CertManager {
  readonly certificates = new Map<string, CertificateObject>();
  readonly secrets = new Map<string, IssuedSecret>();
  readonly issuers = new Map<string, Issuer>();
  private serial = 1;

  constructor(private readonly later: (run: () => void) => void) {}

  addIssuer(kind: "Issuer" | "ClusterIssuer", name: string, state: Partial<Issuer> = {}): Issuer {
    const issuer: Issuer = { ready: true, type: "ca", authority: authority(name), ...state };
    this.issuers.set(`${kind}/${name}`, issuer);
    return issuer;
  }

  apply(object: KubeObject): void {
    const { name } = object.metadata;
    const live = this.certificates.get(name);
    if (live && JSON.stringify(live.spec) === JSON.stringify(object.spec)) return;
    const generation = (live?.metadata.generation ?? 0) + 1;
    const next = { ...object, metadata: { ...object.metadata, generation }, status: live?.status };
    this.certificates.set(name, next as unknown as CertificateObject);
    this.later(() => this.issue(name, generation));
  }

  delete(name: string): void {
    this.certificates.delete(name);
  }

  /** The Secret appears a moment before the Certificate says Ready, as with the real one. */
  private issue(name: string, generation: number): void {
    const certificate = this.certificates.get(name);
    if (certificate?.metadata.generation !== generation) return;
    const { spec } = certificate;
    const issuer = this.issuers.get(`${spec.issuerRef.kind}/${spec.issuerRef.name}`);
    if (!issuer?.ready) return;
    const leaf = issue(issuer.authority, spec, this.serial++);
    const annotations = {
      "cert-manager.io/certificate-name": name,
      "cert-manager.io/issuer-name": spec.issuerRef.name,
      "cert-manager.io/issuer-kind": spec.issuerRef.kind,
    };
    const metadata = { name: spec.secretName, namespace: certificate.metadata.namespace ?? "", annotations };
    const object = { apiVersion: "v1", kind: "Secret", metadata };
    this.secrets.set(spec.secretName, { ...leaf, ca: issuer.authority.certificate, object });
    this.later(() => {
      const ready = { type: "Ready", status: "True", observedGeneration: generation };
      certificate.status = { conditions: [ready], revision: generation };
    });
  }
}
