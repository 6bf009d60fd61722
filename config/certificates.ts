import { DEFAULT_CLIENT, DEFAULT_RESTART } from "./defaults-tls";
import { canonicalIp } from "./formats";
import { keySpec } from "./key";
import { clientServiceName, headlessServiceName, type Identity, leafSecretName } from "./names";
import { caSpec, ownLeafLifetime } from "./own-ca";
import { canonicalCertificates } from "./pem";
import { peerSans, type RequiredSans, serverSans } from "./sans";
import type { CertificateInput, IssuerRefInput, TlsInput, TrustedCaInput } from "./schema-tls";
import { certificateSource } from "./source";
import { withoutAbsent } from "./subject";
import type { Alias, CertificateSource, CertificateSpec, GivenSecrets, IssuerRef, TlsSpec, TrustedCa } from "./types";

export const CERT_MANAGER_GROUP = "cert-manager.io";

/** In the order in which they are kept; the last one only where the user lists it. */
export const ALIASES: readonly Alias[] = ["server", "peer", "client", "metrics-exporter"];

/** cert-manager's own defaults, which contain neither of the two that etcd needs. */
const KEY_USAGES = ["digital signature", "key encipherment"];
/** Both: the gateway of a member dials the member itself with the server leaf, and peers dial each other. */
const BOTH_SIDES = [...KEY_USAGES, "server auth", "client auth"];
const CLIENT_SIDE = [...KEY_USAGES, "client auth"];

/** What an alias always has, whatever the user wishes on top of it. */
interface Profile {
  usages: string[];
  sans: RequiredSans;
}

function profile(alias: Alias, identity: Identity, replicas: number): Profile {
  const noSans = { dnsNames: [], ipAddresses: [] };
  switch (alias) {
    case "server":
      return { usages: BOTH_SIDES, sans: serverSans(identity, replicas) };
    case "peer":
      return { usages: BOTH_SIDES, sans: peerSans(identity, replicas) };
    case "client":
    case "metrics-exporter":
      return { usages: CLIENT_SIDE, sans: noSans };
  }
}

/** The common name that a certificate has unless the user wishes for another. */
export function defaultCommonName(alias: Alias, { name }: Pick<Identity, "name">): string {
  switch (alias) {
    case "server":
      return clientServiceName({ name });
    case "peer":
      return headlessServiceName({ name });
    case "client":
      // etcd takes the common name for the user, and root is its administrator.
      return "root";
    case "metrics-exporter":
      return "metrics-exporter";
  }
}

/** The certificates that there are: the metrics exporter's only where it is listed. */
export function aliasesMade(wishes: Pick<CertificateInput, "alias">[]): Alias[] {
  return ALIASES.filter((alias) => alias !== "metrics-exporter" || wishes.some((wish) => wish.alias === alias));
}

/** Fills every default into the section `tls`. Expects that it names one source of certificates. */
export function tlsSpec(wish: TlsInput, identity: Identity, replicas: number): TlsSpec {
  return {
    ...sourceOf(wish, identity),
    certificates: wish.secrets ? givenCertificates(wish.secrets, identity) : madeCertificates(wish, identity, replicas),
    ...(wish.rotate !== undefined && { rotate: wish.rotate }),
    client: {
      auth: wish.client?.auth ?? DEFAULT_CLIENT.auth,
      alsoPlaintext: wish.client?.alsoPlaintext ?? DEFAULT_CLIENT.alsoPlaintext,
    },
    trustedCAs: (wish.trustedCAs ?? []).map(trustedCa),
    ...(wish.minVersion !== undefined && { minVersion: wish.minVersion }),
    cipherSuites: unique(wish.cipherSuites ?? []),
    restartPolicy: wish.restartPolicy ?? DEFAULT_RESTART,
  };
}

function sourceOf(wish: TlsInput, identity: Identity): Pick<TlsSpec, "issuerRef" | "ca" | "secrets"> {
  if (wish.ca) return { ca: caSpec(wish.ca, identity) };
  if (wish.secrets) return { secrets: given(wish.secrets) };
  return { issuerRef: issuer(wish.issuerRef!) };
}

function given(secrets: NonNullable<TlsInput["secrets"]>): GivenSecrets {
  return Object.fromEntries(Object.entries(secrets).filter(([, name]) => name !== undefined));
}

/** What somebody else makes has no wishes of ours: only where the copies are kept. */
function givenCertificates(secrets: NonNullable<TlsInput["secrets"]>, identity: Identity): CertificateSpec[] {
  return ALIASES.filter((alias) => secrets[alias] !== undefined).map((alias) => ({
    alias,
    secretName: leafSecretName(identity, alias, "secrets"),
    commonName: "",
    subject: {},
    dnsNames: [],
    ipAddresses: [],
    uris: [],
    emailAddresses: [],
    privateKey: privateKey({}),
    usages: [],
  }));
}

function madeCertificates(wish: TlsInput, identity: Identity, replicas: number): CertificateSpec[] {
  const wishes = wish.certificates ?? [];
  const made = aliasesMade(wishes).map((alias) => {
    const own = wishes.find((each) => each.alias === alias) ?? { alias };
    return certificateSpec(own, profile(alias, identity, replicas), wish, identity);
  });
  const server = made.find(({ alias }) => alias === "server")!;
  return made.map((each) => (each.sameAs === "server" ? { ...server, alias: each.alias, sameAs: each.sameAs } : each));
}

/** Expects that it names one source. PEM is kept in one spelling, so that a comment in it is no change. */
function trustedCa({ pem, configMap, secret }: TrustedCaInput): TrustedCa {
  const at = ({ name, key }: { name: string; key?: string }) => ({ name, key: key ?? "ca.crt" });
  if (configMap) return { configMap: at(configMap) };
  if (secret) return { secret: at(secret) };
  return { pem: canonicalCertificates(pem!) };
}

export function issuer(wish: IssuerRefInput): IssuerRef {
  return { apiGroup: wish.apiGroup ?? CERT_MANAGER_GROUP, kind: wish.kind ?? "Issuer", name: wish.name };
}

function certificateSpec(wish: CertificateInput, base: Profile, tls: TlsInput, identity: Identity): CertificateSpec {
  const source = certificateSource(tls as Pick<TlsSpec, "issuerRef" | "ca" | "secrets">);
  return {
    alias: wish.alias,
    ...(source === "issuer" && { issuerRef: issuer(wish.issuerRef ?? tls.issuerRef!) }),
    ...(wish.sameAs !== undefined && { sameAs: wish.sameAs }),
    secretName: wish.secretName ?? leafSecretName(identity, wish.alias, source),
    commonName: wish.commonName ?? defaultCommonName(wish.alias, identity),
    subject: withoutAbsent(wish.subject ?? {}),
    ...lifetime(wish, source),
    dnsNames: unique([...base.sans.dnsNames, ...(wish.dnsNames ?? []).map((name) => name.toLowerCase())]),
    ipAddresses: unique([...base.sans.ipAddresses, ...(wish.ipAddresses ?? []).map((ip) => canonicalIp(ip) ?? ip)]),
    uris: unique(wish.uris ?? []),
    emailAddresses: unique(wish.emailAddresses ?? []),
    privateKey: privateKey(wish.privateKey ?? {}),
    usages: unique([...base.usages, ...(wish.usages ?? [])]),
  };
}

/** cert-manager has defaults of its own, which stay its own. */
function lifetime(
  wish: CertificateInput,
  source: CertificateSource,
): Pick<CertificateSpec, "duration" | "renewBefore"> {
  const { duration, renewBefore } = wish;
  if (source === "ca") return ownLeafLifetime(duration, renewBefore);
  return { ...(duration !== undefined && { duration }), ...(renewBefore !== undefined && { renewBefore }) };
}

function privateKey(wish: NonNullable<CertificateInput["privateKey"]>): CertificateSpec["privateKey"] {
  const key = keySpec(wish, "RSA");
  return {
    ...key,
    encoding: wish.encoding ?? (key.algorithm === "Ed25519" ? "PKCS8" : "PKCS1"),
    rotationPolicy: wish.rotationPolicy ?? "Always",
  };
}

function unique(values: string[]): string[] {
  return [...new Set(values)];
}
