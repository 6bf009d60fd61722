import { ApiObject } from "cdk8s";
import type { Construct } from "constructs";
import { certificateName } from "../config/names";
import type { CertificateSpec, EtcdSpec } from "../config/types";
import { FIELD_MANAGER } from "./annotations";
import { labels } from "./labels";

/** The engine applies the same manifest where somebody edited or deleted it, and waits for the issue itself. */
const FOR_PULUMI = { "pulumi.com/patchFieldManager": FIELD_MANAGER, "pulumi.com/skipAwait": "true" };

/** A cert-manager Certificate. Everything that is set is written out: an omitted field would follow their defaults. */
export class MemberCertificate extends ApiObject {
  constructor(scope: Construct, id: string, spec: EtcdSpec, certificate: CertificateSpec) {
    super(scope, id, {
      apiVersion: "cert-manager.io/v1",
      kind: "Certificate",
      metadata: {
        name: certificateName(spec, certificate.alias),
        namespace: spec.namespace,
        labels: labels(spec, "certificate"),
        annotations: FOR_PULUMI,
      },
      spec: certificateSpec(spec, certificate),
    });
  }
}

function certificateSpec(spec: EtcdSpec, certificate: CertificateSpec) {
  const { issuerRef } = certificate;
  if (!issuerRef) throw new Error(`${spec.name}: the ${certificate.alias} certificate is not cert-manager's to make`);
  const { apiGroup, kind, name } = issuerRef;
  return {
    secretName: certificate.secretName,
    secretTemplate: { labels: labels(spec, "certificate") },
    issuerRef: { group: apiGroup, kind, name },
    commonName: certificate.commonName,
    subject: Object.keys(certificate.subject).length > 0 ? certificate.subject : undefined,
    duration: certificate.duration,
    renewBefore: certificate.renewBefore,
    dnsNames: unlessEmpty(certificate.dnsNames),
    ipAddresses: unlessEmpty(certificate.ipAddresses),
    uris: unlessEmpty(certificate.uris),
    emailAddresses: unlessEmpty(certificate.emailAddresses),
    privateKey: certificate.privateKey,
    usages: certificate.usages,
  };
}

function unlessEmpty(values: string[]): string[] | undefined {
  return values.length > 0 ? values : undefined;
}
