import { durationSeconds } from "./formats";
import { caSpec, ownLeafLifetime } from "./own-ca";
import { configPath } from "./problems";
import { keyProblems } from "./rules-key";
import type { CaInput, CertificateInput, TlsInput } from "./schema-tls";
import type { ConfigProblem } from "./types";

/** What @pulumi/tls can make, and what a CA of one's own makes sense of. */
export function ownCaProblems(tls: TlsInput, clusterName: string): ConfigProblem[] {
  const ca = caSpec(tls.ca!, { name: clusterName });
  const lifetimes = lifetimeProblems(ca, ["tls", "ca"]);
  return [
    ...lifetimes,
    ...keyProblems({ algorithm: ca.privateKey.algorithm, size: tls.ca?.privateKey?.size }, ["tls", "ca", "privateKey"]),
    ...subjectProblems(tls.ca?.subject ?? {}, ["tls", "ca", "subject"]),
    ...sameName(tls.certificates ?? [], ca.commonName),
    ...(tls.certificates ?? []).flatMap((certificate, index) => [
      ...leafProblems(certificate, ["tls", "certificates", index]),
      ...(lifetimes.length > 0 ? [] : outlives(certificate, ca.duration, ["tls", "certificates", index])),
    ]),
  ];
}

function leafProblems(certificate: CertificateInput, path: PropertyKey[]): ConfigProblem[] {
  const noMeaning = (keys: string[], value: unknown, rule: string, mend: string) =>
    value === undefined || (Array.isArray(value) && value.length === 0)
      ? []
      : [{ path: configPath([...path, ...keys]), value, rule, mend }];
  return [
    ...noMeaning(
      ["issuerRef"],
      certificate.issuerRef,
      "has no meaning with etcd:tls.ca, which issues everything",
      "Leave it out",
    ),
    ...noMeaning(
      ["emailAddresses"],
      certificate.emailAddresses,
      "cannot be made with etcd:tls.ca: @pulumi/tls knows DNS names, IP addresses and URIs",
      "Leave it out, or use an issuer of cert-manager",
    ),
    ...noMeaning(
      ["privateKey", "rotationPolicy"],
      certificate.privateKey?.rotationPolicy,
      "has no meaning with etcd:tls.ca: a key is kept until etcd:tls.rotate, or another algorithm or size, makes a new one",
      "Leave it out",
    ),
    ...lifetimeProblems(ownLeafLifetime(certificate.duration, certificate.renewBefore), path),
    ...subjectProblems(certificate.subject ?? {}, [...path, "subject"]),
  ];
}

/** A verifier takes a certificate with its issuer's name for one that signed itself. */
function sameName(certificates: CertificateInput[], caName: string): ConfigProblem[] {
  return certificates.flatMap(({ commonName }, index) =>
    commonName !== caName
      ? []
      : [
          {
            path: configPath(["tls", "certificates", index, "commonName"]),
            value: commonName,
            rule: "must differ from the CA's, or the certificate does not verify",
            mend: "Choose another name for one of the two",
          },
        ],
  );
}

/** @pulumi/tls counts in hours. */
function lifetimeProblems(lifetime: { duration: string; renewBefore: string }, path: PropertyKey[]): ConfigProblem[] {
  const problem = (key: string, value: string, rule: string, mend: string) => [
    { path: configPath([...path, key]), value, rule, mend },
  ];
  for (const key of ["duration", "renewBefore"] as const) {
    if (durationSeconds(lifetime[key])! % 3600 === 0) continue;
    return problem(key, lifetime[key], "must be of whole hours with etcd:tls.ca", "Write hours alone, such as `8760h`");
  }
  if (durationSeconds(lifetime.renewBefore)! < durationSeconds(lifetime.duration)!) return [];
  const rule = `must be less than the duration, which is ${lifetime.duration}`;
  return problem("renewBefore", lifetime.renewBefore, rule, "Choose a third of the duration or so");
}

function outlives(certificate: CertificateInput, lifetime: string, path: PropertyKey[]): ConfigProblem[] {
  const { duration } = ownLeafLifetime(certificate.duration, certificate.renewBefore);
  if (durationSeconds(duration)! <= durationSeconds(lifetime)!) return [];
  const rule = `must not be longer than the CA's, which is ${lifetime}`;
  return [
    {
      path: configPath([...path, "duration"]),
      value: duration,
      rule,
      mend: "Shorten it, or lengthen etcd:tls.ca.duration",
    },
  ];
}

/** @pulumi/tls takes one value of each, but for street addresses. */
function subjectProblems(subject: NonNullable<CaInput["subject"]>, path: PropertyKey[]): ConfigProblem[] {
  return (["organizations", "countries", "organizationalUnits", "localities", "provinces", "postalCodes"] as const)
    .filter((key) => (subject[key] ?? []).length > 1)
    .map((key) => ({
      path: configPath([...path, key]),
      value: subject[key],
      rule: "must be one with etcd:tls.ca: @pulumi/tls takes no more",
      mend: "Keep one",
    }));
}
