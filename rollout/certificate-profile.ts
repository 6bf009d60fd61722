import type { X509Certificate } from "node:crypto";
import { AsnConvert } from "@peculiar/asn1-schema";
import {
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  type Extension,
  type GeneralName,
  type GeneralSubtrees,
  KeyUsage,
  NameConstraints,
  SubjectAlternativeName,
} from "@peculiar/asn1-x509";

/** Names of the four kinds that Go compares with name constraints. */
export interface NameLists {
  dns: string[];
  /** Addresses; in a constraint with the length of the prefix, `10.0.0.0/8`. */
  ips: string[];
  uris: string[];
  emails: string[];
}

/** The fields of a certificate (RFC 5280, 4.1 and 4.2) that a chain is judged by. `X509Certificate` lacks most of them. */
export interface CertificateProfile {
  /** DER in hexadecimal: Go compares the bytes of names, so another encoding of the same text is another name. */
  subject: string;
  issuer: string;
  notBefore: number;
  notAfter: number;
  /** 3 where there may be extensions. */
  version: number;
  /** Object identifier of the signature's algorithm. */
  signedWith: string;
  /** Absent: there is no such extension. */
  basicConstraints?: { ca: boolean; pathLength?: number };
  /** Names of RFC 5280, 4.2.1.3. Absent: there is no such extension. */
  keyUsage?: string[];
  /** Object identifiers. Absent: there is no such extension. */
  extendedKeyUsage?: string[];
  /** Absent: there is no such extension. */
  names?: NameLists;
  nameConstraints?: { permitted: NameLists; excluded: NameLists };
  /** Object identifiers of critical extensions that Go does not know. */
  unknownCritical: string[];
}

const ID = {
  keyUsage: "2.5.29.15",
  names: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  nameConstraints: "2.5.29.30",
  extendedKeyUsage: "2.5.29.37",
};

/** Critical extensions that Go's crypto/x509 handles besides those above: CRL points and policies. */
const HANDLED = [...Object.values(ID), ...[31, 32, 33, 35, 36, 54].map((last) => `2.5.29.${last}`)];

export function profileOf(certificate: X509Certificate): CertificateProfile {
  const { tbsCertificate, signatureAlgorithm } = AsnConvert.parse(certificate.raw, Certificate);
  const { subject, issuer, validity, version, extensions = [] } = tbsCertificate;
  return {
    subject: derOf(subject),
    issuer: derOf(issuer),
    notBefore: validity.notBefore.getTime().getTime(),
    notAfter: validity.notAfter.getTime().getTime(),
    version: version + 1,
    signedWith: signatureAlgorithm.algorithm,
    ...extensionsOf([...extensions]),
  };
}

function extensionsOf(extensions: Extension[]) {
  const find = <T>(id: string, type: new () => T): T | undefined => {
    const found = extensions.find(({ extnID }) => extnID === id);
    return found && AsnConvert.parse(found.extnValue.buffer, type);
  };
  const basic = find(ID.basicConstraints, BasicConstraints);
  const usage = find(ID.keyUsage, KeyUsage);
  const purposes = find(ID.extendedKeyUsage, ExtendedKeyUsage);
  const names = find(ID.names, SubjectAlternativeName);
  const constraints = find(ID.nameConstraints, NameConstraints);
  return {
    ...(basic && {
      basicConstraints: {
        ca: basic.cA,
        ...(basic.pathLenConstraint !== undefined && { pathLength: Number(basic.pathLenConstraint) }),
      },
    }),
    ...(usage && { keyUsage: usage.toJSON() }),
    ...(purposes && { extendedKeyUsage: [...purposes] }),
    ...(names && { names: listsOf([...names]) }),
    ...(constraints && {
      nameConstraints: {
        permitted: listsOf(basesOf(constraints.permittedSubtrees)),
        excluded: listsOf(basesOf(constraints.excludedSubtrees)),
      },
    }),
    unknownCritical: extensions
      .filter(({ critical, extnID }) => critical && !HANDLED.includes(extnID))
      .map(({ extnID }) => extnID),
  };
}

function basesOf(subtrees: GeneralSubtrees | undefined): GeneralName[] {
  return [...(subtrees ?? [])].map(({ base }) => base);
}

function listsOf(names: GeneralName[]): NameLists {
  const all = (pick: (name: GeneralName) => string | undefined) => names.flatMap((name) => pick(name) ?? []);
  return {
    dns: all(({ dNSName }) => dNSName),
    ips: all(({ iPAddress }) => iPAddress),
    uris: all(({ uniformResourceIdentifier }) => uniformResourceIdentifier),
    emails: all(({ rfc822Name }) => rfc822Name),
  };
}

function derOf(name: object): string {
  return Buffer.from(AsnConvert.serialize(name)).toString("hex");
}
