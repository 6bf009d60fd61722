import { CERT_MANAGER_GROUP } from "./certificates";
import { HTTP2_SUITES } from "./cipher-suites";
import { durationSeconds } from "./formats";
import { certificateName } from "./names";
import { configPath } from "./problems";
import type { CertificateInput, IssuerRefInput, TlsInput, TrustedCaInput } from "./schema-tls";
import type { ConfigProblem, TlsSpec } from "./types";

/** The rules of `tls` that take more than one field to judge. */
export function tlsProblems(tls: TlsInput, clusterName: string): ConfigProblem[] {
  const certificates = tls.certificates ?? [];
  return [
    ...(tls.issuerRef ? issuerProblems(tls.issuerRef, ["tls", "issuerRef"]) : [issuerMissing()]),
    ...duplicateAliases(certificates),
    ...sharedSecrets(certificates, clusterName),
    ...certificates.flatMap((certificate, index) => certificateProblems(certificate, ["tls", "certificates", index])),
    ...(tls.trustedCAs ?? []).flatMap((ca, index) => sourceProblems(ca, ["tls", "trustedCAs", index])),
    ...cipherProblems(tls),
  ];
}

function issuerMissing(): ConfigProblem {
  return {
    path: configPath(["tls", "issuerRef"]),
    rule: "tls.issuerRef is required for Etcd ReconfigureTLS",
    mend: "Name an issuer: `pulumi config set --path 'etcd:tls.issuerRef.name' <issuer>`; for plaintext leave etcd:tls out",
  };
}

function issuerProblems(ref: IssuerRefInput, path: PropertyKey[]): ConfigProblem[] {
  const own = (ref.apiGroup ?? CERT_MANAGER_GROUP) === CERT_MANAGER_GROUP;
  if (!own || ["Issuer", "ClusterIssuer"].includes(ref.kind ?? "Issuer")) return [];
  return [
    {
      path: configPath([...path, "kind"]),
      value: ref.kind,
      rule: `must be Issuer or ClusterIssuer, the kinds of ${CERT_MANAGER_GROUP}`,
      mend: "Choose one of the two, or name the apiGroup of the external issuer",
    },
  ];
}

function duplicateAliases(certificates: CertificateInput[]): ConfigProblem[] {
  return repeated(certificates.map((certificate) => certificate.alias)).map(({ value, index, first }) => ({
    path: configPath(["tls", "certificates", index, "alias"]),
    value,
    rule: `must be listed once, and is listed at tls.certificates[${first}] already`,
    mend: "Merge the two entries",
  }));
}

/** cert-manager would re-issue two Certificates of one Secret in turns, for ever. */
function sharedSecrets(certificates: CertificateInput[], clusterName: string): ConfigProblem[] {
  const aliases = ["server", "peer", "client"] as const;
  const unlisted = aliases.filter((alias) => !certificates.some((certificate) => certificate.alias === alias));
  const defaults = new Map(unlisted.map((alias) => [certificateName({ name: clusterName }, alias), alias]));
  const names = certificates.map((each) => each.secretName ?? certificateName({ name: clusterName }, each.alias));
  const clashes = repeated(names).map((each) => ({ ...each, other: `tls.certificates[${each.first}]` }));
  const withDefault = names.flatMap((value, index) =>
    defaults.has(value) ? [{ value, index, other: `the ${defaults.get(value)} certificate` }] : [],
  );
  return [...clashes, ...withDefault]
    .filter(({ index, other }) => certificates[index]!.secretName !== undefined || !other.startsWith("the "))
    .map(({ value, index, other }) => ({
      path: configPath(["tls", "certificates", index, "secretName"]),
      value,
      rule: `must be the Secret of one certificate only, and is that of ${other} already`,
      mend: "Choose another name, or leave the key out",
    }));
}

function repeated(values: string[]): { value: string; index: number; first: number }[] {
  return values
    .map((value, index) => ({ value, index, first: values.indexOf(value) }))
    .filter(({ index, first }) => index !== first);
}

function certificateProblems(certificate: CertificateInput, path: PropertyKey[]): ConfigProblem[] {
  return [
    ...(certificate.issuerRef ? issuerProblems(certificate.issuerRef, [...path, "issuerRef"]) : []),
    ...renewalProblems(certificate, path),
    ...keyProblems(certificate.privateKey ?? {}, [...path, "privateKey"]),
  ];
}

function renewalProblems(certificate: CertificateInput, path: PropertyKey[]): ConfigProblem[] {
  const lifetime = certificate.duration ?? "2160h";
  const before = certificate.renewBefore;
  if (before === undefined || durationSeconds(before)! < durationSeconds(lifetime)!) return [];
  return [
    {
      path: configPath([...path, "renewBefore"]),
      value: before,
      rule: `must be less than the duration, which is ${lifetime}`,
      mend: "Choose a third of the duration or so",
    },
  ];
}

function keyProblems(key: NonNullable<CertificateInput["privateKey"]>, path: PropertyKey[]): ConfigProblem[] {
  const algorithm = key.algorithm ?? "RSA";
  const problem = (field: string, value: unknown, rule: string, mend: string) => ({
    path: configPath([...path, field]),
    value,
    rule,
    mend,
  });
  if (algorithm === "Ed25519") {
    return [
      ...(key.size === undefined ? [] : [problem("size", key.size, "has no meaning with Ed25519", "Leave it out")]),
      ...(key.encoding === "PKCS1"
        ? [problem("encoding", "PKCS1", "must be PKCS8 with Ed25519", "Leave it out or choose PKCS8")]
        : []),
    ];
  }
  if (key.size === undefined) return [];
  if (algorithm === "ECDSA" && ![256, 384, 521].includes(key.size))
    return [problem("size", key.size, "must be 256, 384 or 521 with ECDSA", "Choose 256")];
  if (algorithm === "RSA" && (key.size < 2048 || key.size > 8192))
    return [problem("size", key.size, "must be between 2048 and 8192 with RSA", "Choose 2048, 3072 or 4096")];
  return [];
}

const SOURCES = ["pem", "configMap", "secret"] as const;

function sourceProblems(ca: TrustedCaInput, path: PropertyKey[]): ConfigProblem[] {
  const named = SOURCES.filter((source) => ca[source] !== undefined);
  if (named.length === 1) return [];
  return [
    {
      path: configPath(path),
      ...(named.length > 0 && { value: named }),
      rule: "must have exactly one of pem, configMap and secret",
      mend: named.length > 0 ? "Make an entry of each" : "Write one of the three",
    },
  ];
}

/** etcd does not start with a list that it cannot serve with. */
export function cipherProblems({
  cipherSuites = [],
  minVersion,
}: Pick<TlsInput, "cipherSuites" | "minVersion">): ConfigProblem[] {
  if (cipherSuites.length === 0) return [];
  const problem = (rule: string, mend: string) => [
    { path: configPath(["tls", "cipherSuites"]), value: cipherSuites, rule, mend },
  ];
  if (minVersion === "TLS1.3") {
    return problem(
      "has no meaning with minVersion TLS1.3, whose suites cannot be chosen, and etcd refuses to start with both",
      "Leave it out, or set etcd:tls.minVersion to TLS1.2",
    );
  }
  if (cipherSuites.some((suite) => HTTP2_SUITES.includes(suite))) return [];
  return problem(`must have one of the suites that HTTP/2 demands: ${HTTP2_SUITES.join(" or ")}`, "Add one of them");
}

/** What is accepted, but deserves a second thought. */
export function tlsWarnings({ client }: TlsSpec): ConfigProblem[] {
  return [...(client.alsoPlaintext ? [plaintextHeld()] : []), ...(client.auth === "none" ? [openToAll()] : [])];
}

function plaintextHeld(): ConfigProblem {
  return {
    path: configPath(["tls", "client", "alsoPlaintext"]),
    value: true,
    rule: "while it is held, plaintext clients of port 2379 are neither encrypted nor asked for a certificate",
    mend: "Take it away as soon as every client speaks TLS",
  };
}

function openToAll(): ConfigProblem {
  return {
    path: configPath(["tls", "client", "auth"]),
    value: "none",
    rule: "anybody who reaches port 2379 gets in, unless etcd's own authentication is on",
    mend: "Set it to required, or turn on etcd's authentication",
  };
}
