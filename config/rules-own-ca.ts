import { aliasesMade, defaultCommonName } from "./certificates";
import { durationSeconds } from "./formats";
import { caSpec, ownLeafLifetime } from "./own-ca";
import { configPath } from "./problems";
import { keyProblems } from "./rules-key";
import type { CaInput, CertificateInput, TlsInput } from "./schema-tls";
import type { Alias, ConfigProblem } from "./types";

/** What @pulumi/tls can make, and what a CA of one's own makes sense of. */
export function ownCaProblems(tls: TlsInput, clusterName: string): ConfigProblem[] {
  const ca = caSpec(tls.ca!, { name: clusterName });
  const lifetimes = lifetimeProblems(ca, ["tls", "ca"]);
  return [
    ...lifetimes,
    ...keyProblems({ algorithm: ca.privateKey.algorithm, size: tls.ca?.privateKey?.size }, ["tls", "ca", "privateKey"]),
    ...subjectProblems(tls.ca?.subject ?? {}, ["tls", "ca", "subject"]),
    ...sameName(tls.certificates ?? [], ca.commonName, clusterName),
    ...(tls.certificates ?? []).flatMap((certificate, index) =>
      leafProblems(certificate, ["tls", "certificates", index]),
    ),
    ...(lifetimes.length > 0 ? [] : outlives(tls.certificates ?? [], ca.duration)),
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
function sameName(certificates: CertificateInput[], caName: string, clusterName: string): ConfigProblem[] {
  const rule = "must differ from the CA's, or the certificate does not verify";
  const mend = "Choose another name for one of the two";
  const wished = certificates.flatMap(({ commonName }, index) =>
    commonName === caName
      ? [{ path: configPath(["tls", "certificates", index, "commonName"]), value: commonName, rule, mend }]
      : [],
  );
  const alias = withDefault(certificates, "commonName").find(
    (each) => defaultCommonName(each, { name: clusterName }) === caName,
  );
  if (!alias) return wished;
  const path = configPath(["tls", "ca", "commonName"]);
  const clash = `must differ from the ${alias} certificate's, or that does not verify`;
  return [...wished, { path, value: caName, rule: clash, mend }];
}

/** The certificates that are made with the default of a wish. */
function withDefault(certificates: CertificateInput[], key: "commonName" | "duration"): Alias[] {
  return aliasesMade(certificates).filter((alias) => {
    const wish = certificates.find((each) => each.alias === alias);
    return wish?.[key] === undefined && wish?.sameAs === undefined;
  });
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

/** A certificate that outlives its CA stops verifying before anybody is told that it ends. */
function outlives(certificates: CertificateInput[], lifetime: string): ConfigProblem[] {
  const isLonger = (duration: string) => durationSeconds(duration)! > durationSeconds(lifetime)!;
  const wished = certificates.flatMap(({ duration }, index) =>
    duration !== undefined && isLonger(duration)
      ? [
          {
            path: configPath(["tls", "certificates", index, "duration"]),
            value: duration,
            rule: `must not be longer than the CA's, which is ${lifetime}`,
            mend: "Shorten it, or lengthen etcd:tls.ca.duration",
          },
        ]
      : [],
  );
  const { duration } = ownLeafLifetime();
  const [alias] = withDefault(certificates, "duration");
  if (!alias || !isLonger(duration)) return wished;
  return [
    ...wished,
    {
      path: configPath(["tls", "ca", "duration"]),
      value: lifetime,
      rule: `must not be shorter than that of its certificates, which is ${duration} for the ${alias} certificate`,
      mend: "Lengthen it, or give every certificate a shorter duration in etcd:tls.certificates",
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
