import { certificateName } from "../config/names";
import { ownCertificates } from "../config/source";
import type { CertificateSpec, EtcdSpec, IssuerRef } from "../config/types";
import type { KubeObject } from "../manifests/types";
import { readBundle } from "./bundle";
import {
  CERT_MANAGER,
  type CertificateObject,
  endIfFailed,
  explain,
  failureMark,
  notIssued,
} from "./certificate-status";
import { chainFault, type Purpose, purposesOf } from "./chain";
import type { Ports, SecretMaterial } from "./ports";
import { FatalError, waitFor } from "./wait";
import { certificatesOf, matchesKey, subjectAltNames } from "./x509";

/**
 * Waits until cert-manager has made every certificate of the spec: Ready for the newest generation, not being
 * re-issued, and the Secret holds a leaf that matches its key, names every asked SAN, comes from the asked issuer and
 * chains to the trust bundle that the members mount.
 *
 * Readiness alone says less: it stays True during a renewal, and is the old generation's just after an edit.
 */
export async function awaitCertificates(
  ports: Ports,
  spec: EtcdSpec,
  check: typeof checkMaterial = checkMaterial,
): Promise<void> {
  if (!spec.tls) return;
  const bundle = (await readBundle(ports, spec)) ?? "";
  await Promise.all(
    ownCertificates(spec.tls).map(async (certificate) => {
      const { secretName, issuerRef } = certificate;
      if (!issuerRef) return;
      const name = certificateName(spec, certificate.alias);
      await awaitCertificate(ports, spec, { name, secretName, issuerRef }, (material) =>
        check(material, certificate, bundle, ports.clock.now(), purposesIn(spec, certificate)),
      );
    }),
  );
}

/**
 * Certificates that cert-manager does not make are there before the members are walked, and of CAs that stay trusted,
 * or nothing is begun: somebody may have written a given Secret anew since the trust was widened.
 */
export async function demandCertificates(ports: Ports, spec: EtcdSpec, settled: string | undefined): Promise<void> {
  const bundle = settled ?? (await readBundle(ports, spec)) ?? "";
  for (const certificate of ownCertificates(spec.tls)) {
    const material = await ports.kube.secretMaterial(spec.namespace, certificate.secretName);
    const wrong = material
      ? checkMaterial(material, certificate, bundle, ports.clock.now(), purposesIn(spec, certificate))
      : "it does not exist, or has no tls.crt and tls.key";
    if (!wrong) continue;
    throw new FatalError(
      `Secret ${spec.namespace}/${certificate.secretName}: ${wrong}. Run the update again; with --refresh where somebody changed what the stack had made`,
    );
  }
}

/** How long an issue may take, in milliseconds. */
export function issueDeadlineMs({ rollout }: Pick<EtcdSpec, "rollout">): number {
  return (rollout.issueTimeoutSeconds ?? rollout.stepTimeoutSeconds) * 1000;
}

interface Awaited {
  name: string;
  secretName: string;
  issuerRef: IssuerRef;
  /** Mark of a failure that is none of this wait's; absent: that of the first look. */
  failedBefore?: string;
}

/**
 * Waits for one Certificate; `check` says what is still wrong with its Secret. Returns the Secret's material. Throws
 * `FatalError` as soon as cert-manager says that the issue was denied, or failed.
 */
export async function awaitCertificate(
  ports: Ports,
  spec: Pick<EtcdSpec, "namespace" | "rollout">,
  { name, secretName, issuerRef, ...awaited }: Awaited,
  check: (material: SecretMaterial) => string | undefined,
): Promise<SecretMaterial> {
  const { namespace } = spec;
  const what = `Certificate ${namespace}/${name} to be issued`;
  const deadlineMs = issueDeadlineMs(spec);
  let before = awaited.failedBefore;
  return waitFor({ clock: ports.clock, deadlineMs, what }, async () => {
    const object = (await ports.kube.get(CERT_MANAGER, "Certificate", namespace, name)) as
      | CertificateObject
      | undefined;
    if (!object) return "it does not exist";
    before ??= failureMark(object);
    await endIfFailed(ports, object, before);
    const waiting = notIssued(object);
    if (waiting) return await explain(ports, namespace, name, waiting);
    const secret = await ports.kube.get("v1", "Secret", namespace, secretName);
    const material = secret && (await ports.kube.secretMaterial(namespace, secretName));
    if (!secret || !material) return `Secret ${secretName} does not exist yet`;
    const wrong = wrongIssuer(secret, issuerRef) ?? check(material);
    return wrong ? `Secret ${secretName}: ${wrong}` : { done: material };
  });
}

function wrongIssuer(secret: KubeObject, ref: IssuerRef): string | undefined {
  const { annotations = {} } = secret.metadata;
  const { "cert-manager.io/issuer-name": name, "cert-manager.io/issuer-kind": kind = "Issuer" } = annotations;
  if (name === ref.name && kind === ref.kind) return undefined;
  if (name === undefined) return "it names no issuer, so cert-manager has not written it";
  return `still issued by ${kind} ${name}, not by ${ref.kind} ${ref.name}`;
}

/** What a certificate is shown for in a cluster: one Secret, or one folder of a host, may hold that of several aliases. */
export function purposesIn({ tls }: Pick<EtcdSpec, "tls">, { alias, secretName }: CertificateSpec): Purpose[] {
  const sharing = (tls?.certificates ?? []).filter((other) => other.secretName === secretName);
  return purposesOf(alias, ...sharing.map((other) => other.alias));
}

/** What is wrong with a leaf for members that trust `bundle`; `undefined` if nothing is. */
export function checkMaterial(
  material: SecretMaterial,
  asked: CertificateSpec,
  bundle: string,
  now: number,
  purposes = purposesOf(asked.alias),
): string | undefined {
  const [leaf] = certificatesOf(material.certificate);
  if (!leaf) return "no certificate in tls.crt";
  if (!matchesKey(material.certificate, material.key)) return "the certificate does not match its key";
  const lacks = checkNames(material, asked);
  if (lacks) return lacks;
  if (Date.parse(leaf.validTo) < now) return `the certificate expired on ${leaf.validTo}`;
  if (Date.parse(leaf.validFrom) > now) return `the certificate is not valid before ${leaf.validFrom}`;
  const fault = chainFault(material.certificate, bundle, { now, purposes });
  if (!fault) return undefined;
  return fault.unknown
    ? `the certificate does not chain to the trust bundle of the members: ${fault.why}`
    : `etcd refuses the certificate's chain: ${fault.why}`;
}

/** Whether a leaf names everything that was asked for: only a leaf of an older spec does not. */
export function checkNames(material: SecretMaterial, asked: CertificateSpec): string | undefined {
  const names = subjectAltNames(material.certificate);
  const missing = missingNames(new Set(names), asked);
  return missing.length > 0 ? `the certificate lacks ${missing.join(", ")}` : undefined;
}

function missingNames(names: Set<string>, asked: CertificateSpec): string[] {
  const has = (prefix: string, value: string) => names.has(`${prefix}:${value}`);
  const ips = new Set(
    [...names].flatMap((name) => (name.startsWith("IP Address:") ? [canonicalIp(name.slice(11))] : [])),
  );
  return [
    ...asked.dnsNames.filter((name) => !has("DNS", name)),
    ...asked.ipAddresses.filter((ip) => !ips.has(canonicalIp(ip))),
    ...asked.uris.filter((uri) => !has("URI", uri)),
    ...asked.emailAddresses.filter((email) => !has("email", email)),
  ];
}

/** One spelling for each address: `::1` and `0:0:0:0:0:0:0:1` are the same. */
function canonicalIp(ip: string): string {
  return ip.includes(":") ? new URL(`http://[${ip}]/`).hostname : ip;
}
