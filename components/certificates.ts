import type * as pulumi from "@pulumi/pulumi";
import { certificateName, ownCertificates } from "../config";
import type { CertificateSpec, EtcdSpec } from "../config/types";
import { renderCertificates } from "../manifests";
import { CertificateSecret, CopiedSecret, LeafSecret, TrustBundle } from "./dynamic";
import { fingerprint } from "./fingerprint";
import { onlyTrusted } from "./issued-for";
import { kubernetesResource } from "./kubernetes-resource";
import { OwnCa } from "./own-ca";

/** What the walk takes from the certificates: they are there before it begins. */
export interface DeclaredTls {
  bundle?: TrustBundle;
  certificates: pulumi.Resource[];
  /** The cluster's own CA, PEM. */
  ca?: pulumi.Input<string>;
  /** Fingerprints of the leaves that cert-manager does not make, by alias. */
  leaves?: pulumi.Input<Record<string, pulumi.Input<string>>>;
}

/** Trust bundle and certificates; a leaf of a new CA comes only after every member was made to trust that. */
export function declareTls(
  name: string,
  spec: EtcdSpec,
  owner: string,
  parent: pulumi.Resource,
  prerequisites: pulumi.Resource[],
): DeclaredTls {
  if (!spec.tls) return { certificates: [] };
  const own = spec.tls.ca && new OwnCa(name, spec.tls, spec.tls.ca, parent);
  const ca = own && { ca: own.certificate };
  const bundle = new TrustBundle(name, { spec, owner, ...ca }, { parent, dependsOn: prerequisites });
  const opts = { parent, dependsOn: [bundle] };
  if (own) return { bundle, ...ca, ...ownLeaves(name, spec, own, opts) };
  if (spec.tls.secrets) return { bundle, ...copies(name, spec, opts) };
  return { bundle, certificates: issued(name, spec, bundle, parent) };
}

type ChildOptions = pulumi.CustomResourceOptions;

/** cert-manager's Certificates, each after what stands for its Secret. */
function issued(name: string, spec: EtcdSpec, bundle: TrustBundle, parent: pulumi.Resource): pulumi.Resource[] {
  const secrets = ownCertificates(spec.tls).map(
    (certificate) =>
      new CertificateSecret(`${name}-${certificate.alias}`, secretArgs(spec, certificate), {
        parent,
        dependsOn: [bundle],
      }),
  );
  const dependsOn = [bundle, ...secrets];
  return renderCertificates(spec).map((object) =>
    kubernetesResource(object.metadata.name, onlyTrusted(object, bundle.spec, spec), { parent, dependsOn }),
  );
}

function ownLeaves(name: string, spec: EtcdSpec, own: OwnCa, opts: ChildOptions) {
  const certificates = own.leaves.map(
    ({ spec: leaf, certificate, key }) =>
      new LeafSecret(
        `${name}-${leaf.alias}`,
        { ...secretArgs(spec, leaf), cluster: spec.name, certificate, key, ca: own.certificate },
        opts,
      ),
  );
  const leaves = own.leaves.map(({ spec: { alias }, certificate }) => [alias, certificate.apply(fingerprint)]);
  return { certificates, leaves: Object.fromEntries(leaves) as Record<string, pulumi.Output<string>> };
}

function copies(name: string, spec: EtcdSpec, opts: ChildOptions) {
  const certificates = (spec.tls?.certificates ?? []).map(
    (certificate) =>
      new CopiedSecret(
        `${name}-${certificate.alias}`,
        { ...secretArgs(spec, certificate), spec, alias: certificate.alias },
        opts,
      ),
  );
  const leaves = certificates.map((copy, index) => [spec.tls!.certificates[index]!.alias, copy.fingerprint]);
  return { certificates, leaves: Object.fromEntries(leaves) as Record<string, pulumi.Output<string>> };
}

function secretArgs(spec: EtcdSpec, { alias, secretName }: CertificateSpec) {
  return { namespace: spec.namespace, secretName, certificateName: certificateName(spec, alias) };
}
