import type { KubeObject, ObjectMeta } from "../../../manifests";
import type { LiveIssuer } from "../../../rollout/ports";
import { subjectAltNames } from "../../../rollout/x509";
import { frozen } from "./frozen";
import { givenCa, grantedHours, type Habits } from "./habits";
import { Authority, type IssueOptions, type Leaf, type Names } from "./pki";
import { BEGINNING } from "./timeline";

export interface Issuer extends LiveIssuer {
  authority: Authority;
  /** When its CA was renewed with another key. */
  rekeyedAt?: number;
  habits?: Habits;
}

/** What a Secret of type `kubernetes.io/tls` holds, whoever wrote it. */
export interface LeafSecret extends Leaf {
  ca: string;
  object: KubeObject;
}

/** What decides how a leaf looks, whoever issues it. */
export interface LeafWish extends Names {
  commonName?: string;
  duration?: string | undefined;
  privateKey?: { encoding?: "PKCS1" | "PKCS8" };
}

interface CertificateSpec extends LeafWish {
  secretName: string;
  secretTemplate?: { labels?: Record<string, string> };
  issuerRef: { kind: string; name: string };
}

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
}

export type CertificateObject = KubeObject & {
  spec: CertificateSpec;
  metadata: ObjectMeta & { generation: number; resourceVersion: string };
  status: { conditions: Condition[]; revision: number; lastFailureTime?: string };
};

/** How often it looks whether an issuer has become ready. */
const ISSUER_LOOK_MS = 2000;

/** Made once for all simulated worlds: thousands of worlds ask for the same certificates. */
const AUTHORITIES = new Map<string, Authority>();
const LEAVES = new Map<string, Leaf>();
const CA_OF_LEAF = new Map<string, string>();

/** The CAs below others that sign for issuers with the habit of giving a chain. */
const BELOW = new Map<string, Authority>();

/** A CA of that common name; another `which` is another key under the same name. */
export function authority(name: string, which = 0): Authority {
  const known = AUTHORITIES.get(`${name} ${which}`) ?? Authority.root(name);
  AUTHORITIES.set(`${name} ${which}`, known);
  return known;
}

/** Issues a leaf; the same for the same serial, so that worlds stay comparable and quick. */
export function issue(from: Authority, spec: LeafWish, serial: number, at: number, habits: Habits = {}): Leaf {
  const key = JSON.stringify([from.name, from.certificate, spec, serial, at, habits]);
  const known = LEAVES.get(key) ?? newLeaf(from, spec, optionsOf(spec, serial, at, habits), habits);
  LEAVES.set(key, known);
  CA_OF_LEAF.set(known.certificate, from.certificate);
  return known;
}

function newLeaf(from: Authority, { commonName = "leaf" }: LeafWish, options: IssueOptions, { gives }: Habits): Leaf {
  if (gives !== "a chain") return from.issue(commonName, options);
  const below = BELOW.get(from.certificate) ?? from.intermediate(`${from.name}-below`);
  BELOW.set(from.certificate, below);
  const leaf = below.issue(commonName, options);
  return { ...leaf, certificate: leaf.certificate + below.certificate };
}

function optionsOf(spec: LeafWish, serial: number, at: number, habits: Habits): IssueOptions {
  const hours = grantedHours(Number(/^(\d+)h/.exec(spec.duration ?? "2160h")?.[1]), habits);
  const encoding = spec.privateKey?.encoding ?? "PKCS1";
  const notBefore = new Date(at - (habits.datesBackHours ?? 0) * 3_600_000);
  return { names: spec, serial, encoding, notBefore, notAfter: new Date(at + hours * 3_600_000) };
}

/** Whether a bundle holds the CA that a leaf comes from. */
export function trusts(bundle: string, leaf: string | undefined): boolean {
  const ca = leaf === undefined ? undefined : CA_OF_LEAF.get(leaf);
  return ca !== undefined && bundle.includes(ca.trim());
}

/** cert-manager's part: makes a Secret for each Certificate, some time after it was written. Keeps others' as well. */
export class CertManager {
  readonly certificates = new Map<string, CertificateObject>();
  readonly secrets = new Map<string, LeafSecret>();
  readonly issuers = new Map<string, Issuer>();
  /** The newest CertificateRequest of each Certificate. */
  readonly requests = new Map<string, KubeObject>();
  /** How many of the next issues fail. */
  failures = 0;
  /** What issuers take for the time: it stands still, so that leaves can be shared between worlds. */
  issuersTime = BEGINNING;
  /** It does nothing until then. */
  awayUntil = 0;
  /** How many leaves have come into Secrets, and how many of them the engine or Pulumi has written. */
  written = 0;
  applied = 0;
  /** Leaves that it has renewed by itself: nobody has asked whether the members trust their CA. */
  readonly unattended = new Set<string>();
  /** How often somebody else has written a Secret. */
  given = 0;
  /** When the update that runs now began: it asks issuers once, and a CA that is renewed after that is nobody's fault. */
  updatedAt = 0;
  /** How often the CA behind an issuer was renewed. */
  keys = 0;
  private serial = 1;
  private versions = 1;

  constructor(
    private readonly schedule: (run: () => void, atLeastMs?: number) => void,
    private readonly now: () => number,
  ) {}

  /** Some time later, and not while cert-manager is away. */
  private later(run: () => void, atLeastMs?: number): void {
    this.schedule(() => {
      if (this.now() < this.awayUntil) this.later(run, this.awayUntil - this.now());
      else run();
    }, atLeastMs);
  }

  addIssuer(kind: "Issuer" | "ClusterIssuer", name: string, state: Partial<Issuer> = {}): Issuer {
    const issuer: Issuer = { ready: true, type: "ca", authority: authority(name), ...state };
    this.issuers.set(`${kind}/${name}`, issuer);
    return issuer;
  }

  /** Server-side apply: fields that the object does not name stay as they are. */
  apply(object: KubeObject): void {
    const { name } = object.metadata;
    const live = this.certificates.get(name);
    const spec = (object.spec as CertificateSpec | undefined) ?? live?.spec;
    if (!spec) throw new Error(`Certificate ${name}: spec is required`);
    const changed = JSON.stringify(live?.spec) !== JSON.stringify(spec);
    const annotations = { ...live?.metadata.annotations, ...object.metadata.annotations };
    const generation = (live?.metadata.generation ?? 0) + (changed ? 1 : 0);
    const metadata = {
      ...live?.metadata,
      ...object.metadata,
      annotations,
      generation,
    } as CertificateObject["metadata"];
    const status = live?.status ?? { conditions: [], revision: 0 };
    this.store({ ...object, spec, metadata, status });
    // cert-manager does not act on a changed encoding or renewal time by itself.
    const acts = changed && actedOn(live?.spec) !== actedOn(spec) && !(live === undefined && this.takesOver(spec));
    if (acts) this.later(() => this.issue(name));
    else if (changed) this.later(() => this.ready(name));
  }

  /** A Secret that names no issuer, and whose leaf has every name that is asked for, satisfies a new Certificate. */
  private takesOver({ secretName, dnsNames = [] }: CertificateSpec): boolean {
    const secret = this.secrets.get(secretName);
    if (!secret || secret.object.metadata.annotations?.["cert-manager.io/issuer-name"] !== undefined) return false;
    const names = subjectAltNames(secret.certificate);
    return dnsNames.every((name) => names.includes(`DNS:${name}`));
  }

  /** Fails if somebody wrote the object since it was read. */
  replaceStatus(object: CertificateObject): void {
    const live = this.certificates.get(object.metadata.name);
    if (live?.metadata.resourceVersion !== object.metadata.resourceVersion) throw new Error("Conflict (409)");
    this.store({ ...live, status: object.status });
    if (this.isIssuing(object)) this.later(() => this.issue(object.metadata.name));
  }

  delete(name: string): void {
    this.certificates.delete(name);
    this.requests.delete(name);
  }

  private store(object: CertificateObject): void {
    const metadata = { ...object.metadata, resourceVersion: String(this.versions++) };
    this.certificates.set(object.metadata.name, frozen({ ...object, metadata }));
  }

  private isIssuing({ status }: CertificateObject): boolean {
    return status.conditions.some(({ type, status: value }) => type === "Issuing" && value === "True");
  }

  /** The Secret appears a moment before the Certificate says Ready, as with the real one. */
  private issue(name: string): void {
    const certificate = this.certificates.get(name);
    if (!certificate) return;
    const { spec } = certificate;
    const issuer = this.issuers.get(`${spec.issuerRef.kind}/${spec.issuerRef.name}`);
    if (!issuer) return;
    // A CertificateRequest is pending until its issuer is ready.
    const denied = issuer.habits?.denies?.(spec);
    if (!issuer.ready) this.later(() => this.issue(name), ISSUER_LOOK_MS);
    else if (this.failures > 0) this.fail(certificate, "Failed", "the issuer refused");
    else if (denied) this.fail(certificate, "Denied", denied);
    else if (issuer.habits?.slowMs) this.later(() => this.writeSecret(name, issuer), issuer.habits.slowMs);
    else this.writeSecret(name, issuer);
  }

  private writeSecret(name: string, issuer: Issuer): void {
    const certificate = this.certificates.get(name);
    if (!certificate) return;
    const { spec } = certificate;
    const { authority: from, habits } = issuer;
    const leaf = issue(from, spec, this.serial++, this.issuersTime, habits);
    this.request(certificate, { type: "Ready", status: "True", reason: "Issued" });
    const annotations = {
      "cert-manager.io/certificate-name": name,
      "cert-manager.io/issuer-name": spec.issuerRef.name,
      "cert-manager.io/issuer-kind": spec.issuerRef.kind,
    };
    const { namespace = "" } = certificate.metadata;
    const metadata = { name: spec.secretName, namespace, annotations, ...spec.secretTemplate };
    if ((issuer.rekeyedAt ?? -1) >= this.updatedAt) this.unattended.add(leaf.certificate);
    this.write({ apiVersion: "v1", kind: "Secret", metadata }, { ...leaf, ca: givenCa(from.certificate, habits) });
    this.later(() => this.ready(name));
  }

  /** Server-side apply by somebody else. cert-manager takes back what one of its Certificates names. */
  applySecret(object: KubeObject): void {
    const data = object.data as Record<string, string>;
    const text = (key: string) => Buffer.from(data[key] ?? "", "base64").toString();
    this.applied += 1;
    this.write(object, { certificate: text("tls.crt"), key: text("tls.key"), ca: text("ca.crt") });
    this.reclaim(object.metadata.name);
  }

  /** A Secret that neither cert-manager nor the program makes. */
  giveSecret(name: string, material: Omit<LeafSecret, "object">): void {
    this.given += 1;
    this.write({ apiVersion: "v1", kind: "Secret", metadata: { name } }, material);
  }

  deleteSecret(name: string): void {
    this.secrets.delete(name);
    this.reclaim(name);
  }

  private write(object: KubeObject, material: Omit<LeafSecret, "object">): void {
    const { name } = object.metadata;
    const live = this.secrets.get(name)?.object.metadata;
    const annotations = { ...live?.annotations, ...object.metadata.annotations };
    const labels = { ...live?.labels, ...object.metadata.labels };
    const { data: _, ...rest } = object;
    this.written += 1;
    this.secrets.set(name, {
      ...material,
      object: frozen({ ...rest, metadata: { ...object.metadata, annotations, labels } }),
    });
  }

  private reclaim(secretName: string): void {
    for (const { metadata, spec } of this.certificates.values()) {
      if (spec.secretName === secretName) this.later(() => this.issue(metadata.name));
    }
  }

  /** The CA behind an issuer is renewed with another key, as cert-manager does by default. */
  rekey(issuer: Issuer): void {
    issuer.authority = authority(issuer.authority.name, ++this.keys);
    issuer.rekeyedAt = this.now();
  }

  /** It renews a certificate by itself, because the time has come. */
  renew(name: string): void {
    const certificate = this.certificates.get(name);
    const issuer =
      certificate && this.issuers.get(`${certificate.spec.issuerRef.kind}/${certificate.spec.issuerRef.name}`);
    if (!certificate || !issuer?.ready || this.isIssuing(certificate)) return;
    this.writeSecret(name, issuer);
    const leaf = this.secrets.get(certificate.spec.secretName)?.certificate;
    if (leaf) this.unattended.add(leaf);
  }

  /** What cert-manager has asked of the issuer for the next revision, and what came of it. */
  private request({ metadata, spec, status }: CertificateObject, condition: Condition): void {
    const annotations = {
      "cert-manager.io/certificate-name": metadata.name,
      "cert-manager.io/certificate-revision": String(status.revision + 1),
    };
    const { duration, issuerRef } = spec;
    const request = { metadata: { name: metadata.name, annotations }, spec: { duration, issuerRef } };
    this.requests.set(
      metadata.name,
      frozen({
        apiVersion: "cert-manager.io/v1",
        kind: "CertificateRequest",
        ...request,
        status: { conditions: [condition] },
      }),
    );
  }

  /** Whatever was issued before stays as it is. */
  private fail(certificate: CertificateObject, reason: string, message: string): void {
    if (this.failures > 0) this.failures -= 1;
    this.request(certificate, { type: "Ready", status: "False", reason, message });
    const { conditions, ...status } = certificate.status;
    const others = conditions.filter(({ type }) => type !== "Issuing");
    const failed = { type: "Issuing", status: "False", reason, message };
    const lastFailureTime = new Date(this.now()).toISOString();
    this.store({ ...certificate, status: { ...status, conditions: [...others, failed], lastFailureTime } });
  }

  private ready(name: string): void {
    const certificate = this.certificates.get(name);
    if (!certificate) return;
    const { status, metadata } = certificate;
    const ready = { type: "Ready", status: "True", observedGeneration: metadata.generation };
    this.store({ ...certificate, status: { conditions: [ready], revision: status.revision + 1 } });
  }
}

/** The fields whose change makes cert-manager issue anew. */
function actedOn(spec: CertificateSpec | undefined): string {
  const { privateKey: _, ...rest } = spec ?? {};
  return JSON.stringify(rest);
}
