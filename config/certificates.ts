import { DEFAULT_CLIENT, DEFAULT_RESTART } from "./defaults-tls";
import { canonicalIp } from "./formats";
import { certificateName, clientServiceName, headlessServiceName, type Identity } from "./names";
import { canonicalCertificates } from "./pem";
import { peerSans, type RequiredSans, serverSans } from "./sans";
import type { CertificateInput, IssuerRefInput, TlsInput, TrustedCaInput } from "./schema-tls";
import type { Alias, CertificateSpec, IssuerRef, SubjectSpec, TlsSpec, TrustedCa } from "./types";

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
  commonName: string;
  usages: string[];
  sans: RequiredSans;
}

function profile(alias: Alias, identity: Identity, replicas: number): Profile {
  const noSans = { dnsNames: [], ipAddresses: [] };
  switch (alias) {
    case "server":
      return { commonName: clientServiceName(identity), usages: BOTH_SIDES, sans: serverSans(identity, replicas) };
    case "peer":
      return { commonName: headlessServiceName(identity), usages: BOTH_SIDES, sans: peerSans(identity, replicas) };
    case "client":
      // etcd takes the common name for the user, and root is its administrator.
      return { commonName: "root", usages: CLIENT_SIDE, sans: noSans };
    case "metrics-exporter":
      return { commonName: "metrics-exporter", usages: CLIENT_SIDE, sans: noSans };
  }
}

/** Fills every default into the section `tls`. Expects that it has an issuerRef. */
export function tlsSpec(wish: TlsInput, identity: Identity, replicas: number): TlsSpec {
  const issuerRef = issuer(wish.issuerRef!);
  const wishes = wish.certificates ?? [];
  const aliases = ALIASES.filter((alias) => alias !== "metrics-exporter" || wishes.some((c) => c.alias === alias));
  const certificates = aliases.map((alias) => {
    const own = wishes.find((each) => each.alias === alias) ?? { alias };
    return certificateSpec(own, profile(alias, identity, replicas), issuerRef, identity);
  });
  return {
    issuerRef,
    certificates,
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

function certificateSpec(
  wish: CertificateInput,
  base: Profile,
  inherited: IssuerRef,
  identity: Identity,
): CertificateSpec {
  return {
    alias: wish.alias,
    issuerRef: wish.issuerRef ? issuer(wish.issuerRef) : inherited,
    secretName: wish.secretName ?? certificateName(identity, wish.alias),
    commonName: base.commonName,
    subject: withoutAbsent(wish.subject ?? {}),
    ...(wish.duration !== undefined && { duration: wish.duration }),
    ...(wish.renewBefore !== undefined && { renewBefore: wish.renewBefore }),
    dnsNames: unique([...base.sans.dnsNames, ...(wish.dnsNames ?? []).map((name) => name.toLowerCase())]),
    ipAddresses: unique([...base.sans.ipAddresses, ...(wish.ipAddresses ?? []).map((ip) => canonicalIp(ip) ?? ip)]),
    uris: unique(wish.uris ?? []),
    emailAddresses: unique(wish.emailAddresses ?? []),
    privateKey: privateKey(wish.privateKey ?? {}),
    usages: unique([...base.usages, ...(wish.usages ?? [])]),
  };
}

const KEY_SIZE = { RSA: 2048, ECDSA: 256, Ed25519: undefined };

function privateKey(wish: NonNullable<CertificateInput["privateKey"]>): CertificateSpec["privateKey"] {
  const algorithm = wish.algorithm ?? "RSA";
  const size = wish.size ?? KEY_SIZE[algorithm];
  return {
    algorithm,
    ...(size !== undefined && { size }),
    encoding: wish.encoding ?? (algorithm === "Ed25519" ? "PKCS8" : "PKCS1"),
    rotationPolicy: wish.rotationPolicy ?? "Always",
  };
}

/** An absent field and an empty list mean the same; only one of them may be kept, or they would show as a change. */
function withoutAbsent(subject: SubjectSpec): SubjectSpec {
  const isSet = (value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(subject).filter(([, value]) => isSet(value)));
}

function unique(values: string[]): string[] {
  return [...new Set(values)];
}
