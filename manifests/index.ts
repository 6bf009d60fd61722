import { ownCertificates } from "../config/source";
import type { EtcdSpec } from "../config/types";
import { MemberCertificate } from "./certificate";
import { DisruptionBudget } from "./disruption-budget";
import { renderHostSet } from "./hosts";
import { EtcdNamespace } from "./namespace";
import { ClientService, HeadlessService } from "./services";
import { synthesize, synthesizeOne } from "./synthesize";
import { TrustBundle } from "./trust-bundle";
import type { KubeObject, MemberSpec, MemberTemplate, WorkloadOptions } from "./types";
import { MemberSet } from "./workload";

export * from "./annotations";
export * from "./hosts";
export { labels, memberSelector } from "./labels";
export * from "./paths";
export * from "./stages";
export { memberBundleKey, normalizeTrust, trustRevision } from "./trust";
export { TRUST_BUNDLE_KEY } from "./trust-bundle";
export * from "./types";
export { DATA_VOLUME } from "./volumes";

export function renderNamespace(spec: EtcdSpec): KubeObject {
  return synthesizeOne((scope) => new EtcdNamespace(scope, "namespace", spec));
}

/** The client Service `<name>`, then the headless Service `<name>-pods`. */
export function renderServices(spec: EtcdSpec): KubeObject[] {
  return synthesize((scope) => {
    new ClientService(scope, "client", spec);
    new HeadlessService(scope, "headless", spec);
  });
}

export function renderDisruptionBudget(spec: EtcdSpec): KubeObject {
  return synthesizeOne((scope) => new DisruptionBudget(scope, "budget", spec));
}

/** cert-manager Certificates in the spec's order; none where TLS is off or its certificates come from elsewhere. */
export function renderCertificates(spec: EtcdSpec): KubeObject[] {
  const certificates = ownCertificates(spec.tls).filter(({ issuerRef }) => issuerRef !== undefined);
  return synthesize((scope) => {
    for (const certificate of certificates) new MemberCertificate(scope, certificate.alias, spec, certificate);
  });
}

/** ConfigMap of the CA certificates in `pem`. Throws where there is none in it. */
export function renderTrustBundle(spec: Pick<EtcdSpec, "name" | "namespace">, pem: string, earlier = {}): KubeObject {
  return synthesizeOne((scope) => new TrustBundle(scope, "trust", spec, pem, earlier));
}

/**
 * The workload with its members on a stage: a StatefulSet or PetSet, or the services of hosts.
 *
 * On a stage with TLS the spec must have certificates: for the walk that removes TLS, render the spec that had it.
 */
export function renderWorkload(spec: MemberSpec, template: MemberTemplate, options: WorkloadOptions = {}): KubeObject {
  if (spec.hosts) return renderHostSet(spec, template, options);
  return synthesizeOne((scope) => new MemberSet(scope, "workload", spec, template, options));
}
