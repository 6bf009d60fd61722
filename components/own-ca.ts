import * as pulumi from "@pulumi/pulumi";
import * as tls from "@pulumi/tls";
import { ownCertificates } from "../config";
import { hoursOf } from "../config/own-ca";
import type { CaSpec, CertificateSpec, KeySpec, SubjectSpec, TlsSpec } from "../config/types";

import { announceRenewal } from "./renewal";

const NEVER_ROTATED = "";

/** A leaf as its Secret is to hold it; the key is a Pulumi secret. */
export interface OwnLeaf {
  spec: CertificateSpec;
  certificate: pulumi.Output<string>;
  key: pulumi.Output<string>;
}

/**
 * The cluster's own CA and its leaves. Their keys are in the Pulumi state, encrypted, and the leaves' in their Secrets;
 * the CA's is nowhere else.
 *
 * The names of the CA's resources carry its generation: the next one is made beside it, and the old one is deleted only
 * at the end of an update that has succeeded, so that a config that was put back finds it again.
 */
export class OwnCa {
  readonly certificate: pulumi.Output<string>;
  readonly leaves: OwnLeaf[];
  readonly #opts: pulumi.CustomResourceOptions;
  readonly #key: tls.PrivateKey;

  constructor(name: string, made: Pick<TlsSpec, "certificates" | "rotate">, ca: CaSpec, parent: pulumi.Resource) {
    this.#opts = { parent };
    const title = `${name}-ca-${ca.generation}`;
    this.#key = new tls.PrivateKey(title, keyArgs(ca.privateKey), this.#opts);
    const signed = new tls.SelfSignedCert(
      title,
      {
        privateKeyPem: this.#key.privateKeyPem,
        subject: subjectArgs(ca.commonName, ca.subject),
        isCaCertificate: true,
        allowedUses: ["cert_signing", "crl_signing", "digital_signature"],
        setSubjectKeyId: true,
        ...lifetime(ca),
      },
      this.#opts,
    );
    this.certificate = signed.certPem;
    announceRenewal(signed, `the CA ${ca.commonName}`, ca);
    this.leaves = ownCertificates(made).map((certificate) => this.#leaf(name, certificate, made.rotate));
  }

  #leaf(name: string, spec: CertificateSpec, rotate: string | undefined): OwnLeaf {
    const title = `${name}-${spec.alias}`;
    // What comes after the key follows from it: another key makes another request, and that another certificate. Pulumi
    // compares a trigger with the last one only where there was one.
    const key = new tls.PrivateKey(title, keyArgs(spec.privateKey), {
      ...this.#opts,
      replacementTrigger: rotate ?? NEVER_ROTATED,
    });
    const request = new tls.CertRequest(
      title,
      {
        privateKeyPem: key.privateKeyPem,
        subject: subjectArgs(spec.commonName, spec.subject),
        dnsNames: spec.dnsNames,
        ipAddresses: spec.ipAddresses,
        uris: spec.uris,
      },
      this.#opts,
    );
    const ends = { duration: spec.duration!, renewBefore: spec.renewBefore! };
    const signed = new tls.LocallySignedCert(
      title,
      {
        certRequestPem: request.certRequestPem,
        caPrivateKeyPem: this.#key.privateKeyPem,
        caCertPem: this.certificate,
        allowedUses: spec.usages.map(allowedUse),
        setSubjectKeyId: true,
        ...lifetime(ends),
      },
      this.#opts,
    );
    announceRenewal(signed, `the ${spec.alias} certificate`, ends);
    const pem = spec.privateKey.encoding === "PKCS8" ? key.privateKeyPemPkcs8 : key.privateKeyPem;
    return { spec, certificate: signed.certPem, key: pulumi.secret(pem) };
  }
}

function lifetime({ duration, renewBefore }: Pick<CaSpec, "duration" | "renewBefore">) {
  return { validityPeriodHours: hoursOf(duration), earlyRenewalHours: hoursOf(renewBefore) };
}

function keyArgs({ algorithm, size }: KeySpec): tls.PrivateKeyArgs {
  switch (algorithm) {
    case "RSA":
      return { algorithm, ...(size !== undefined && { rsaBits: size }) };
    case "ECDSA":
      return { algorithm, ecdsaCurve: `P${size}` };
    case "Ed25519":
      return { algorithm: "ED25519" };
  }
}

function subjectArgs(commonName: string, subject: SubjectSpec) {
  const one = (key: string, values: string[] | undefined) => (values?.[0] === undefined ? {} : { [key]: values[0] });
  return {
    commonName,
    ...one("country", subject.countries),
    ...one("organization", subject.organizations),
    ...one("organizationalUnit", subject.organizationalUnits),
    ...one("locality", subject.localities),
    ...one("province", subject.provinces),
    ...one("postalCode", subject.postalCodes),
    ...(subject.streetAddresses && { streetAddresses: subject.streetAddresses }),
    ...(subject.serialNumber !== undefined && { serialNumber: subject.serialNumber }),
  };
}

/** cert-manager's names of usages, where @pulumi/tls has others than the same with underscores. */
const ALLOWED_USES: Record<string, string> = {
  signing: "digital_signature",
  "cert sign": "cert_signing",
  "crl sign": "crl_signing",
  any: "any_extended",
  "s/mime": "email_protection",
  "microsoft sgc": "microsoft_server_gated_crypto",
  "netscape sgc": "netscape_server_gated_crypto",
};

function allowedUse(usage: string): string {
  return ALLOWED_USES[usage] ?? usage.replaceAll(" ", "_");
}
