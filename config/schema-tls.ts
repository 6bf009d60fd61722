import * as z from "zod";
import { CIPHER_SUITES, cipherSuiteProblem } from "./cipher-suites";
import { type Check, flag, list, section, TEXT_OR_NUMBER, text, wholeNumber } from "./fields";
import { canonicalIp, durationSeconds, isCertificateDnsName, isDnsSubdomain, isEmail, isUri } from "./formats";
import { holdsCertificate, holdsPrivateKey, isReadable } from "./pem";

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

export const NOT_EMPTY: Check<string> = {
  test: (v) => v.trim() !== "",
  rule: "must not be empty",
  mend: "Leave the key out",
};

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

/** RFC 5280, ub-common-name. */
const COMMON_NAME: Check<string> = {
  test: (v) => v.trim() !== "" && Buffer.byteLength(v) <= 64,
  rule: "must be 1 to 64 bytes long",
  mend: "Shorten it; further names belong into dnsNames",
};

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
  sameAs: z.enum(["server"]).optional().meta({
    description:
      "With the alias client: no certificate of its own; the administrator's client shows the server's, as in a setup with one certificate for both.",
  }),
  secretName: text(OBJECT_NAME).optional().meta({
    description:
      "Secret that the certificate is kept in. Default `<name>-<alias>-cert`, with `tls.ca` `<name>-<alias>-own-cert`. One Secret for each certificate.",
  }),
  commonName: text(COMMON_NAME).optional().meta({
    description:
      "CN of the certificate's subject, 64 bytes at most; etcd's authentication takes a client's for the user. Default: the name of the Service; of the client `root`.",
  }),
  subject: subject.optional().meta({ description: "Subject besides the common name, which etcd takes for the user." }),
  duration: text(GO_DURATION, atLeast(3600, "1h")).optional().meta({
    description:
      "Lifetime as a Go duration, 1h or more. Default: cert-manager's, 2160h (90 days); with `tls.ca`, whose certificates only an update renews, 8760h (a year).",
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

const generation: Check<number> = {
  test: (v) => v >= 1,
  rule: "must be 1 or more",
  mend: "Count up from 1: each new number makes a new CA",
};

const ca = section({
  commonName: text(COMMON_NAME).optional().meta({
    description:
      "CN of the CA's subject, 64 bytes at most. Default `<name> CA`, from the second generation on with its number.",
  }),
  subject: subject.optional().meta({ description: "The CA's subject besides the common name." }),
  privateKey: section({
    algorithm: z.enum(["RSA", "ECDSA", "Ed25519"]).optional().meta({ description: "Kind of key.", default: "ECDSA" }),
    size: wholeNumber().optional().meta({
      description: "Bits. RSA: 2048 (default) to 8192; ECDSA: 256 (default), 384 or 521; none with Ed25519.",
    }),
  })
    .optional()
    .meta({ description: "The CA's key. It is kept in the Pulumi state, encrypted, and nowhere else." }),
  duration: text(GO_DURATION, atLeast(3600, "1h")).optional().meta({
    description: "Lifetime of the CA as a Go duration of whole hours.",
    default: "87600h",
  }),
  renewBefore: text(GO_DURATION, atLeast(3600, "1h")).optional().meta({
    description:
      "How long before its end an update makes the CA anew, as a Go duration of whole hours. Default: a tenth of the lifetime. Nothing renews between updates.",
  }),
  generation: wholeNumber(generation).optional().meta({
    description:
      "Each new number makes a new CA with a new key: the members are made to trust both, every certificate is issued anew, and the old CA is dropped.",
    default: 1,
  }),
});

const secretOf = (alias: string) =>
  text(OBJECT_NAME).meta({ description: `Secret with the ${alias} certificate: tls.crt, tls.key and ca.crt.` });

const secrets = section({
  server: secretOf("server"),
  peer: secretOf("peer"),
  client: secretOf("client"),
  "metrics-exporter": secretOf("metrics exporter's").optional(),
});

const client = section({
  auth: z.enum(["required", "none"]).optional().meta({
    description:
      "`required`: clients show a certificate of a trusted CA. `none`: TLS of the server only, and any client may connect.",
    default: "required",
  }),
  alsoPlaintext: flag().optional().meta({
    description:
      "Serves plaintext beside TLS on port 2379, so that clients move in their own time: adding or removing TLS stops there, with the peers done. Take it away and the next update settles.",
    default: false,
  }),
});

const CERTIFICATES: Check<string>[] = [
  {
    test: (v) => !holdsPrivateKey(v),
    rule: "must not hold a private key",
    mend: "Leave the key out: a CA is trusted by its certificate alone, and no key belongs into a stack's file",
  },
  {
    test: (v) => holdsPrivateKey(v) || holdsCertificate(v),
    rule: "must hold a certificate in PEM",
    mend: "Write the text from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----",
  },
  {
    test: (v) => holdsPrivateKey(v) || isReadable(v),
    rule: "must hold only certificates that can be read",
    mend: "Look at it with `openssl x509 -noout -subject`, and keep its line breaks by a YAML block (`pem: |`)",
  },
];

const OBJECT_KEY: Check<string> = {
  test: (v) => /^[-._a-zA-Z0-9]{1,253}$/.test(v) && v !== "." && v !== "..",
  rule: "must be a key of a ConfigMap or Secret: letters, digits, `-`, `_` and `.`",
  mend: "Write the key as `kubectl describe` prints it, such as `ca.crt`",
};

const reference = (kind: string) =>
  section({
    name: text(OBJECT_NAME).meta({ description: `Name of a ${kind} of the cluster's namespace.` }),
    key: text(OBJECT_KEY).optional().meta({ description: "Key that holds the certificates.", default: "ca.crt" }),
  });

const trustedCa = section({
  pem: text(...CERTIFICATES)
    .optional()
    .meta({ description: "The certificates themselves, in PEM; never a key." }),
  configMap: reference("ConfigMap").optional().meta({ description: "ConfigMap with the certificates." }),
  secret: reference("Secret")
    .optional()
    .meta({ description: "Secret with the certificates; its other keys are not read." }),
});

/** The name of a cipher suite; every other is refused with the names that come near it. */
const cipherSuite = z.string().superRefine((name, context) => {
  const problem = cipherSuiteProblem(name);
  if (problem) context.addIssue({ code: "custom", message: problem.rule, params: { mend: problem.mend } });
});

export const tls = section({
  // Whether it is missing is judged together with the rest of the section, in KubeDB's words.
  issuerRef: issuerRef.optional().meta({
    description:
      "The cert-manager issuer of the cluster's certificates. Changing it re-issues all of them. Exactly one of issuerRef, ca and secrets says where certificates come from.",
  }),
  ca: ca.optional().meta({
    description:
      "A CA of the cluster's own, for clusters without cert-manager. `ca: {}` takes every default. Its certificates are renewed only by `pulumi up`.",
  }),
  secrets: secrets.optional().meta({
    description:
      "Secrets of the cluster's namespace that somebody else maintains (Vault agent, CI, a corporate PKI). The members run on copies, which an update brings up to date once every member trusts their CA.",
  }),
  certificates: list(certificate).optional().meta({
    description: "Wishes for single certificates, each alias once. Those not listed are made with the defaults.",
  }),
  rotate: text(NOT_EMPTY)
    .optional()
    .meta({
      description:
        "A token of your choice, such as a date. Each new value re-issues every certificate once; needs TLS to be on already. With `tls.ca` taking it away does so, too.",
      ...TEXT_OR_NUMBER,
    }),
  restartPolicy: z.enum(["IfRequired", "Always"]).optional().meta({
    description:
      "`IfRequired`: new certificates are taken up without a restart; only another set of trusted CAs needs one. `Always`: the members restart in order after every re-issue and rotation. Changing the policy itself restarts them once.",
    default: "IfRequired",
  }),
  client: client.optional().meta({ description: "How clients are served on port 2379 where TLS is on." }),
  trustedCAs: list(trustedCa).optional().meta({
    description:
      "Further CAs that members accept, each from one source: PEM, a ConfigMap or a Secret. They are kept in the trust bundle besides the issuers' own.",
  }),
  minVersion: z.enum(["TLS1.2", "TLS1.3"]).optional().meta({
    description: "Oldest version of TLS that members speak, with clients and with each other. Default: etcd's, TLS1.2.",
  }),
  cipherSuites: list(cipherSuite.meta({ enum: [...CIPHER_SUITES] }))
    .optional()
    .meta({
      description:
        "Cipher suites of TLS 1.2 that members choose from, in Go's names. Default: Go's own choice. Those of TLS 1.3 are fixed.",
    }),
});

export type TlsInput = z.output<typeof tls>;
export type CertificateInput = z.output<typeof certificate>;
export type CaInput = z.output<typeof ca>;
export type TrustedCaInput = z.output<typeof trustedCa>;
export type IssuerRefInput = z.output<typeof issuerRef>;
