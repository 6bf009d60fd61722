import * as z from "zod";
import { type Check, list, section, TEXT_OR_NUMBER, text, wholeNumber } from "./fields";
import { canonicalIp, durationSeconds, isCertificateDnsName, isDnsSubdomain, isEmail, isUri } from "./formats";

/** cert-manager's KeyUsage, complete. */
const USAGES = [
  "signing",
  "digital signature",
  "content commitment",
  "key encipherment",
  "key agreement",
  "data encipherment",
  "cert sign",
  "crl sign",
  "encipher only",
  "decipher only",
  "any",
  "server auth",
  "client auth",
  "code signing",
  "email protection",
  "s/mime",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "timestamping",
  "ocsp signing",
  "microsoft sgc",
  "netscape sgc",
] as const;

const NOT_EMPTY: Check<string> = { test: (v) => v.trim() !== "", rule: "must not be empty", mend: "Leave the key out" };

/** Shared with the other sections: what a Kubernetes object is called. */
export const OBJECT_NAME: Check<string> = {
  test: isDnsSubdomain,
  rule: "must be a DNS subdomain: lower-case letters, digits, `-` and `.`, at most 253 characters",
  mend: "Name the object as `kubectl get` prints it",
};

export const GO_DURATION: Check<string> = {
  test: (v) => durationSeconds(v) !== undefined,
  rule: "must be a Go duration: numbers with the units h, m, s, ms",
  mend: "Write days as hours, such as `2160h` for 90 days",
};

function atLeast(seconds: number, words: string): Check<string> {
  return {
    test: (v) => (durationSeconds(v) ?? Number.POSITIVE_INFINITY) >= seconds,
    rule: `must be ${words} or more`,
    mend: `Write ${words} or more, such as \`2160h\``,
  };
}

const issuerRef = section({
  apiGroup: text(OBJECT_NAME).optional().meta({
    description:
      "API group of the issuer. Default `cert-manager.io`; another group names an external issuer of cert-manager.",
    default: "cert-manager.io",
  }),
  kind: text(NOT_EMPTY).optional().meta({
    description: "`Issuer` (of the cluster's namespace) or `ClusterIssuer`; any kind with an apiGroup of one's own.",
    default: "Issuer",
  }),
  name: text(OBJECT_NAME).meta({ description: "Name of the issuer. It must exist and be Ready before TLS is added." }),
});

const words = () => list(text(NOT_EMPTY)).optional();

const subject = section({
  organizations: words().meta({ description: "O of the certificate's subject." }),
  countries: words().meta({ description: "C of the certificate's subject, two letters each." }),
  organizationalUnits: words().meta({ description: "OU of the certificate's subject." }),
  localities: words().meta({ description: "L of the certificate's subject." }),
  provinces: words().meta({ description: "ST of the certificate's subject." }),
  streetAddresses: words().meta({ description: "STREET of the certificate's subject." }),
  postalCodes: list(text(NOT_EMPTY).meta(TEXT_OR_NUMBER))
    .optional()
    .meta({ description: "Postal codes of the certificate's subject." }),
  serialNumber: text(NOT_EMPTY)
    .optional()
    .meta({ description: "serialNumber of the subject (not of the certificate).", ...TEXT_OR_NUMBER }),
});

const privateKey = section({
  algorithm: z.enum(["RSA", "ECDSA", "Ed25519"]).optional().meta({
    description: "Kind of key. Changing it re-issues the certificate.",
    default: "RSA",
  }),
  size: wholeNumber().optional().meta({
    description: "Bits. RSA: 2048 (default) to 8192; ECDSA: 256 (default), 384 or 521; none with Ed25519.",
  }),
  encoding: z.enum(["PKCS1", "PKCS8"]).optional().meta({
    description: "How the key is written into the Secret. Default PKCS1; always PKCS8 with Ed25519.",
  }),
  rotationPolicy: z.enum(["Always", "Never"]).optional().meta({
    description:
      "Always: each issue makes a new key. Never: the key is kept, and its algorithm and size can no longer be changed.",
    default: "Always",
  }),
});

const certificate = section({
  alias: z.enum(["server", "peer", "client", "metrics-exporter"]).meta({
    description:
      "Which certificate: `server` (port 2379), `peer` (port 2380), `client` (the administrator's, CN root), `metrics-exporter` (made only where it is listed).",
  }),
  issuerRef: issuerRef.optional().meta({ description: "Issuer of this certificate. Default: `tls.issuerRef`." }),
  secretName: text(OBJECT_NAME).optional().meta({
    description: "Secret that cert-manager writes. Default `<name>-<alias>-cert`. One Secret for each certificate.",
  }),
  subject: subject.optional().meta({ description: "Subject besides the common name, which etcd takes for the user." }),
  duration: text(GO_DURATION, atLeast(3600, "1h")).optional().meta({
    description: "Lifetime as a Go duration, 1h or more. Default: cert-manager's, 2160h (90 days).",
  }),
  renewBefore: text(GO_DURATION, atLeast(300, "5m")).optional().meta({
    description:
      "How long before its end the certificate is renewed, as a Go duration: 5m or more, less than the duration. Default: a third of the lifetime.",
  }),
  dnsNames: list(
    text({
      test: (v) => isCertificateDnsName(v.toLowerCase()),
      rule: "must be a DNS name, at most its first label a `*`",
      mend: "Write a name such as `etcd.example.org` or `*.example.org`; addresses belong into ipAddresses",
    }),
  )
    .optional()
    .meta({ description: "Further DNS names; those that the cluster needs are always there." }),
  ipAddresses: list(
    text({
      test: (v) => canonicalIp(v) !== undefined,
      rule: "must be an IP address",
      mend: "Write an address such as `10.32.0.1` or `fd00::1`; names belong into dnsNames",
    }),
  )
    .optional()
    .meta({ description: "Further IP addresses; the loopback addresses are always there." }),
  uris: list(
    text({ test: isUri, rule: "must be an absolute URI", mend: "Write a URI such as `spiffe://example.org/etcd`" }),
  )
    .optional()
    .meta({ description: "URI names." }),
  emailAddresses: list(
    text({ test: isEmail, rule: "must be an e-mail address", mend: "Write an address such as `etcd@example.org`" }),
  )
    .optional()
    .meta({ description: "E-mail names." }),
  privateKey: privateKey.optional().meta({ description: "The certificate's key." }),
  usages: list(z.enum(USAGES))
    .optional()
    .meta({ description: "Further key usages in cert-manager's words; those that etcd needs are always there." }),
});

export const tls = section({
  // Whether it is missing is judged together with the rest of the section, in KubeDB's words.
  issuerRef: issuerRef.optional().meta({
    description: "The cert-manager issuer of the cluster's certificates. Required. Changing it re-issues all of them.",
  }),
  certificates: list(certificate).optional().meta({
    description: "Wishes for single certificates, each alias once. Those not listed are made with the defaults.",
  }),
  rotate: text(NOT_EMPTY)
    .optional()
    .meta({
      description:
        "A token of your choice, such as a date. Each new value re-issues every certificate once; needs TLS to be on already.",
      ...TEXT_OR_NUMBER,
    }),
});

export type TlsInput = z.output<typeof tls>;
export type CertificateInput = z.output<typeof certificate>;
export type IssuerRefInput = z.output<typeof issuerRef>;
