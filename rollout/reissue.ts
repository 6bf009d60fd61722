import type { X509Certificate } from "node:crypto";
import { certificateName } from "../config/names";
import { ownCertificates } from "../config/source";
import type { CertificateSpec, EtcdSpec } from "../config/types";
import type { KubeObject } from "../manifests/types";
import {
  CERT_MANAGER,
  type CertificateObject,
  endIfFailed,
  explain,
  failureMark,
  hasFailed,
  NOT_BEGUN,
} from "./certificate-status";
import { issueDeadlineMs } from "./certificates";
import { goDurationSeconds } from "./lifetime";
import type { Ports, SecretMaterial } from "./ports";
import { waitFor } from "./wait";
import { certificatesOf, chainsTo } from "./x509";

/** Clocks that differ by less are no fault of a leaf: it is waited for. In milliseconds. */
const CLOCK_SKEW_MS = 5 * 60_000;

/** Says which token a Certificate was rotated for, so that one token rotates once, also after an interruption. */
export const ROTATED_FOR = "pulumi-etcd/rotated-for";

/** Pulumi applies Certificates as another manager and would take this annotation back. */
const ROTATION_MANAGER = "pulumi-etcd-rotation";

/**
 * What is wrong with an issued leaf although cert-manager is content: edits that it does not act on, a CA that changed
 * behind an unchanged issuer, a renewal that should have happened. `undefined` if nothing is. Its lifetime is another
 * matter: see `lifetimeFault`.
 */
export function staleness(material: SecretMaterial, asked: CertificateSpec, settled: string, now: number) {
  const [leaf] = certificatesOf(material.certificate);
  if (!leaf) return "has no certificate";
  const encoding = material.key.includes("BEGIN PRIVATE KEY") ? "PKCS8" : "PKCS1";
  if (encoding !== asked.privateKey.encoding) return `its key is encoded as ${encoding}`;
  if (!chainsTo(material.certificate, settled)) return "its issuer signs with another CA now";
  if (Date.parse(leaf.validFrom) - now > CLOCK_SKEW_MS) return `it is not valid before ${leaf.validFrom}`;
  return overdue(leaf, asked, now);
}

/** Half of the renewal window has gone by and cert-manager has not renewed. */
function overdue(leaf: X509Certificate, asked: CertificateSpec, now: number): string | undefined {
  const [from, to] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
  const renewBefore = (goDurationSeconds(asked.renewBefore) ?? Number.POSITIVE_INFINITY) * 1000;
  // As cert-manager does where an issuer has cut the lifetime to less than that.
  const window = renewBefore < to - from ? renewBefore : (to - from) / 3;
  if (to < now) return `it expired on ${leaf.validTo}`;
  return to - now < window / 2 ? `it ends on ${leaf.validTo} and was not renewed in time` : undefined;
}

/** Whether a Certificate still has to be rotated for the token. */
export async function toRotate(ports: Ports, spec: EtcdSpec, token: string | undefined): Promise<CertificateSpec[]> {
  if (token === undefined || !spec.tls) return [];
  const certificates = ownCertificates(spec.tls);
  const objects = await Promise.all(certificates.map((certificate) => read(ports, spec, certificate)));
  return certificates.filter((_, i) => objects[i]?.metadata.annotations?.[ROTATED_FOR] !== token);
}

function read(ports: Ports, spec: EtcdSpec, { alias }: CertificateSpec): Promise<CertificateObject | undefined> {
  const name = certificateName(spec, alias);
  return ports.kube.get(CERT_MANAGER, "Certificate", spec.namespace, name) as Promise<CertificateObject | undefined>;
}

/** Whether the last issue of a certificate failed, so that it needs a push. */
export async function failedBefore(ports: Ports, spec: EtcdSpec, certificate: CertificateSpec): Promise<boolean> {
  const object = await read(ports, spec, certificate);
  return object !== undefined && hasFailed(object);
}

/**
 * Has cert-manager issue a certificate anew: the condition `Issuing` with reason `ManuallyTriggered`, as its own
 * command line tool sets it, and then the wait until the revision has moved.
 */
export async function reissue(
  ports: Ports,
  spec: EtcdSpec,
  certificate: CertificateSpec,
  { token, because }: { token?: string | undefined; because?: string | undefined } = {},
) {
  const name = certificateName(spec, certificate.alias);
  const wait = { clock: ports.clock, deadlineMs: issueDeadlineMs(spec) };
  const before = await waitFor({ ...wait, what: `Certificate ${name} to be marked for issue` }, async () => {
    const object = await read(ports, spec, certificate);
    if (!object) return "it does not exist";
    await ports.kube.replaceStatus(marked(object, new Date(ports.clock.now()).toISOString()));
    return { done: { revision: object.status?.revision ?? 0, failure: failureMark(object) } };
  });
  if (token !== undefined) await rememberToken(ports, spec, name, token);
  await waitFor(
    { ...wait, what: `Certificate ${name} to be issued anew${because ? ` (${because})` : ""}` },
    async () => {
      const object = await read(ports, spec, certificate);
      const issuing = object?.status?.conditions?.find(({ type }) => type === "Issuing");
      if ((object?.status?.revision ?? 0) > before.revision && !issuing) return { done: undefined };
      if (object) await endIfFailed(ports, object, before.failure);
      if (!issuing) return NOT_BEGUN;
      return explain(ports, spec.namespace, name, `${issuing.reason}: ${issuing.message}`, before.revision);
    },
  );
}

/** Keeps the other conditions: they are cert-manager's. */
function marked(object: CertificateObject, now: string): KubeObject {
  const others = (object.status?.conditions ?? []).filter(({ type }) => type !== "Issuing");
  const issuing = {
    type: "Issuing",
    status: "True",
    reason: "ManuallyTriggered",
    message: "Certificate re-issuance manually triggered by pulumi-etcd",
    lastTransitionTime: now.replace(/\.\d+Z$/, "Z"),
    observedGeneration: (object.metadata as { generation?: number }).generation,
  };
  return { ...object, status: { ...object.status, conditions: [...others, issuing] } };
}

async function rememberToken(ports: Ports, spec: EtcdSpec, name: string, token: string): Promise<void> {
  const annotations = { [ROTATED_FOR]: token };
  await ports.kube.apply(
    { apiVersion: CERT_MANAGER, kind: "Certificate", metadata: { name, namespace: spec.namespace, annotations } },
    { fieldManager: ROTATION_MANAGER },
  );
}

/** Tokens that are there at creation ask for nothing: the certificates are new. */
export async function rememberRotation(ports: Ports, spec: EtcdSpec): Promise<void> {
  const token = spec.tls?.rotate;
  if (token === undefined) return;
  for (const certificate of await toRotate(ports, spec, token)) {
    await rememberToken(ports, spec, certificateName(spec, certificate.alias), token);
  }
}
