import { certificateName } from "../config/names";
import { certificateSource, ownCertificates } from "../config/source";
import type { CertificateSpec, EtcdSpec } from "../config/types";
import { renderCertificates } from "../manifests";
import type { KubeObject } from "../manifests/types";
import { awaitCertificates, checkNames, demandCertificates } from "./certificates";
import { contains } from "./contains";
import type { Journal } from "./journal";
import { LeafGuard } from "./leaf-guard";
import { lifetimeFault } from "./lifetime";
import type { Ports } from "./ports";
import { failedBefore, reissue, rememberRotation, staleness, toRotate } from "./reissue";

/** What the spec asks of its certificates, and where the update comes from. */
export interface LeafRequest {
  spec: EtcdSpec;
  /** The spec of the last update; absent where the cluster is new. */
  previous?: EtcdSpec;
  /** CAs that the bundle will hold in the end, PEM; absent while they are not known. */
  settled?: string;
}

/** What has to be done to certificates besides what Pulumi's own rows do; changes nothing. */
export async function previewLeaves(ports: Ports, request: LeafRequest): Promise<string[]> {
  const { spec, previous, settled } = request;
  if (!spec.tls || spec.hosts || certificateSource(spec.tls) !== "issuer" || !previous?.tls) return [];
  const rotated = wereIssued(previous) ? await toRotate(ports, spec, spec.tls.rotate) : [];
  const steps: string[] = [];
  for (const { certificate, rendered } of pairs(spec)) {
    const untouched = same(rendered, renderedOf(previous, certificate));
    if (untouched && (await isEdited(ports, rendered))) steps.push(restoreStep(rendered));
    const outdated =
      settled !== undefined && isLeftAlone(previous, certificate) && (await stale(ports, spec, certificate, settled));
    const failed = await failedBefore(ports, spec, certificate);
    if (rotated.includes(certificate) || outdated || failed) steps.push(reissueStep(rendered));
  }
  return steps;
}

/**
 * Brings every certificate to what the spec says and waits until it is issued: an object that somebody edited or
 * deleted is applied again; what cert-manager does not act on by itself, and what is to be rotated, is re-issued.
 * Returns whether any leaf is new because of it.
 */
export async function syncLeaves(ports: Ports, request: LeafRequest, journal: Journal): Promise<boolean> {
  const { spec, previous, settled } = request;
  // On hosts the certificates are handed in, and installed before.
  if (!spec.tls || spec.hosts) return false;
  if (certificateSource(spec.tls) !== "issuer") {
    await demandCertificates(ports, spec, settled);
    journal.condition("CertificateSynced", "every certificate is there");
    return false;
  }
  const before = journal.record().steps.length;
  const guard = new LeafGuard(ports, spec);
  for (const { certificate, rendered } of pairs(spec)) {
    if (!(await isEdited(ports, rendered))) continue;
    await guard.demand(certificate);
    await ports.kube.apply(rendered);
    journal.note(restoreStep(rendered), "", "CertificateSynced");
  }
  for (const { certificate, rendered } of pairs(spec)) {
    if (!(await failedBefore(ports, spec, certificate))) continue;
    await guard.demand(certificate);
    await reissue(ports, spec, certificate);
    journal.note(reissueStep(rendered), "", "CertificateSynced");
  }
  // What is stale is re-issued below; here only what cert-manager is busy with is waited for.
  await awaitCertificates(ports, spec, checkNames);
  const rotated = wereIssued(previous) ? await toRotate(ports, spec, spec.tls.rotate) : [];
  for (const { certificate, rendered } of pairs(spec)) {
    const rotate = rotated.includes(certificate);
    const because = settled === undefined ? undefined : await stale(ports, spec, certificate, settled);
    if (!rotate && because === undefined) continue;
    await guard.demand(certificate);
    await reissue(ports, spec, certificate, { because, ...(rotate && { token: spec.tls.rotate }) });
    journal.note(reissueStep(rendered), because ?? "", "CertificateSynced");
  }
  if (!wereIssued(previous)) await rememberRotation(ports, spec);
  await awaitCertificates(ports, spec);
  journal.condition("CertificateSynced", "every certificate is issued");
  return journal.record().steps.length > before;
}

/** Certificates that are new because TLS is, or because they came from elsewhere before, have nothing to rotate. */
function wereIssued(previous: EtcdSpec | undefined): boolean {
  return previous?.tls !== undefined && certificateSource(previous.tls) === "issuer";
}

function restoreStep({ metadata }: KubeObject): string {
  return `restore Certificate ${metadata.name}`;
}

function reissueStep({ metadata }: KubeObject): string {
  return `re-issue Certificate ${metadata.name}`;
}

function pairs(spec: EtcdSpec): { certificate: CertificateSpec; rendered: KubeObject }[] {
  const objects = new Map(renderCertificates(spec).map((object) => [object.metadata.name, object]));
  return ownCertificates(spec.tls).flatMap((certificate) => {
    const rendered = objects.get(certificateName(spec, certificate.alias));
    return rendered ? [{ certificate, rendered }] : [];
  });
}

function renderedOf(spec: EtcdSpec, { alias }: CertificateSpec): KubeObject | undefined {
  return pairs(spec).find(({ certificate }) => certificate.alias === alias)?.rendered;
}

/** Whether a live Certificate is gone, or differs in a field that we set. What others add is theirs. */
async function isEdited(ports: Ports, rendered: KubeObject): Promise<boolean> {
  const { namespace, name } = rendered.metadata;
  const live = await ports.kube.get("cert-manager.io/v1", "Certificate", namespace, name);
  return !live || !contains(live.spec, rendered.spec);
}

function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** What is wrong with a leaf although cert-manager is content; `undefined` if nothing is. */
async function stale(
  ports: Ports,
  spec: EtcdSpec,
  certificate: CertificateSpec,
  settled: string,
): Promise<string | undefined> {
  const material = await ports.kube.secretMaterial(spec.namespace, certificate.secretName);
  if (!material) return undefined;
  return (
    staleness(material, certificate, settled, ports.clock.now()) ?? lifetimeFault(ports, spec, certificate, material)
  );
}

/** Whether cert-manager leaves the leaf as it is: the spec is the same but for fields that it does not act on. */
function isLeftAlone(previous: EtcdSpec, certificate: CertificateSpec): boolean {
  const before = previous.tls?.certificates.find(({ alias }) => alias === certificate.alias);
  if (!before) return false;
  const durations = [before.duration, certificate.duration];
  const durationActedOn = !durations.includes(undefined) && durations[0] !== durations[1];
  return !durationActedOn && same(actedOn(before), actedOn(certificate));
}

/** The fields, besides the duration, whose change makes cert-manager re-issue by itself. */
function actedOn(certificate: CertificateSpec) {
  const { privateKey, renewBefore: _renewBefore, duration: _duration, ...rest } = certificate;
  return { ...rest, algorithm: privateKey.algorithm, size: privateKey.size };
}
