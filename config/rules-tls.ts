import { ALIASES, CERT_MANAGER_GROUP } from "./certificates";
import { HTTP2_SUITES } from "./cipher-suites";
import { durationSeconds } from "./formats";
import { leafSecretName } from "./names";
import { configPath } from "./problems";
import { keyProblems } from "./rules-key";
import { ownCaProblems } from "./rules-own-ca";
import type { CertificateInput, IssuerRefInput, TlsInput, TrustedCaInput } from "./schema-tls";
import { certificateSource } from "./source";
import type { CertificateSource, ConfigProblem, TlsSpec } from "./types";

/** The rules of `tls` that take more than one field to judge. */
export function tlsProblems(tls: TlsInput, clusterName: string): ConfigProblem[] {
  const sources = sourceChoice(tls);
  if (sources.length > 0) return sources;
  const certificates = tls.certificates ?? [];
  const source = certificateSource(tls as Pick<TlsSpec, "issuerRef" | "ca" | "secrets">);
  return [
    ...(tls.issuerRef ? issuerProblems(tls.issuerRef, ["tls", "issuerRef"]) : []),
    ...(tls.ca ? ownCaProblems(tls, clusterName) : []),
    ...(tls.secrets ? [...givenProblems(tls), ...copiedOntoItself(tls.secrets, clusterName)] : []),
    ...duplicateAliases(certificates),
    ...sharedSecrets(certificates, clusterName, source),
    ...certificates.flatMap((certificate, index) =>
      certificateProblems(certificate, source, ["tls", "certificates", index]),
    ),
    ...(tls.trustedCAs ?? []).flatMap((ca, index) => trustedCaProblems(ca, ["tls", "trustedCAs", index])),
    ...cipherProblems(tls),
  ];
}

const CERTIFICATE_SOURCES = ["issuerRef", "ca", "secrets"] as const;

function sourceChoice(tls: TlsInput): ConfigProblem[] {
  const named = CERTIFICATE_SOURCES.filter((source) => tls[source] !== undefined);
  if (named.length === 0) return [issuerMissing()];
  if (named.length === 1) return [];
  return [
    {
      path: configPath(["tls"]),
      value: named,
      rule: "must have exactly one of issuerRef, ca and secrets: certificates come from one source",
      mend: `Keep one of ${named.map((name) => `etcd:tls.${name}`).join(" and ")}; the CA of another can be kept in etcd:tls.trustedCAs`,
    },
  ];
}

/** What somebody else maintains cannot be wished for here. */
function givenProblems(tls: TlsInput): ConfigProblem[] {
  return (["certificates", "rotate"] as const)
    .filter((key) => tls[key] !== undefined && !(Array.isArray(tls[key]) && tls[key].length === 0))
    .map((key) => ({
      path: configPath(["tls", key]),
      rule: "has no meaning with etcd:tls.secrets, whose certificates somebody else makes",
      mend: "Leave it out, and have it done where the Secrets come from",
    }));
}

/** The copies are the program's own: it would copy them onto themselves, and delete them in the end. */
function copiedOntoItself(secrets: NonNullable<TlsInput["secrets"]>, name: string): ConfigProblem[] {
  const copies = ALIASES.map((alias) => leafSecretName({ name }, alias, "secrets"));
  return Object.entries(secrets).flatMap(([alias, secretName]) =>
    secretName === undefined || !copies.includes(secretName)
      ? []
      : [
          {
            path: configPath(["tls", "secrets", alias]),
            value: secretName,
            rule: "must be a Secret that somebody else maintains, and is what this program calls its copy",
            mend: "Name the Secret that is to be copied",
          },
        ],
  );
}

function issuerMissing(): ConfigProblem {
  return {
    path: configPath(["tls", "issuerRef"]),
    rule: "tls.issuerRef is required for Etcd ReconfigureTLS",
    mend: "Name an issuer: `pulumi config set --path 'etcd:tls.issuerRef.name' <issuer>`; without cert-manager write etcd:tls.ca or etcd:tls.secrets; for plaintext leave etcd:tls out",
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
function sharedSecrets(certificates: CertificateInput[], name: string, source: CertificateSource): ConfigProblem[] {
  const aliases = ["server", "peer", "client"] as const;
  const unlisted = aliases.filter((alias) => !certificates.some((certificate) => certificate.alias === alias));
  const defaults = new Map(unlisted.map((alias) => [leafSecretName({ name }, alias, source), alias]));
  const names = certificates.map((each) => each.secretName ?? leafSecretName({ name }, each.alias, source));
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

function certificateProblems(
  certificate: CertificateInput,
  source: CertificateSource,
  path: PropertyKey[],
): ConfigProblem[] {
  return [
    ...sameAsProblems(certificate, path),
    ...(certificate.issuerRef ? issuerProblems(certificate.issuerRef, [...path, "issuerRef"]) : []),
    ...(source === "issuer" ? renewalProblems(certificate, path) : []),
    ...keyProblems(certificate.privateKey ?? {}, [...path, "privateKey"]),
  ];
}

/** One certificate for both has one set of wishes, which are the server's. */
function sameAsProblems({ alias, sameAs, ...wishes }: CertificateInput, path: PropertyKey[]): ConfigProblem[] {
  if (sameAs === undefined) return [];
  const problem = (key: string, value: unknown, rule: string, mend: string) => [
    { path: configPath([...path, key]), value, rule, mend },
  ];
  if (alias !== "client") return problem("sameAs", sameAs, "has a meaning with the alias client only", "Leave it out");
  const wish = Object.entries(wishes).find(([, value]) => value !== undefined);
  if (!wish) return [];
  return problem(
    wish[0],
    wish[1],
    "has no meaning beside sameAs",
    "Write it for the server's certificate, or drop sameAs",
  );
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

const SOURCES = ["pem", "configMap", "secret"] as const;

function trustedCaProblems(ca: TrustedCaInput, path: PropertyKey[]): ConfigProblem[] {
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
