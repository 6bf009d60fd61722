import type { HostsSpec } from "./types-hosts";

export type { HostAccess, HostSpec, HostsAccess, HostsSpec } from "./types-hosts";

/**
 * The spec: what the user asked for, validated and with every default filled in.
 *
 * Plain JSON without Outputs and without secrets, so that it can travel through Pulumi state, be hashed,
 * and be compared field by field.
 */
export interface EtcdSpec {
  /** Name of the cluster; the workload and the client Service carry it. DNS label, 52 characters at most. */
  name: string;
  namespace: string;
  /** Whether the program makes the namespace, or expects to find it. */
  createNamespace: boolean;
  /** Number of members. Fixed once the cluster runs. */
  replicas: number;
  /** etcd version, such as `3.7.3`: says which flags there are, and from where the members can be brought to it. */
  version: string;
  image: string;
  imagePullPolicy: "IfNotPresent" | "Always" | "Never";
  workload: WorkloadSpec;
  storage: StorageSpec;
  resources: ResourcesSpec;
  /** DNS domain of the Kubernetes cluster, such as `cluster.local`. */
  clusterDomain: string;
  /** Further etcd flags, without the leading dashes: `{ "quota-backend-bytes": "8589934592" }`. */
  extraArgs: Record<string, string>;
  extraEnv: { name: string; value: string }[];
  /** Absent: the cluster speaks plaintext. */
  tls?: TlsSpec;
  /** Absent: the members are asked as nobody, or as the user that the client certificate names. */
  auth?: AuthSpec;
  rollout: RolloutSpec;
  /** Present: the members are systemd services of these hosts, without Kubernetes. */
  hosts?: HostsSpec;
  /**
   * Part of the pod template for its own sake: another value restarts the members. Made from `rollout.restart`, and
   * with `tls.restartPolicy: Always` from what re-issues certificates; absent where neither is asked for.
   */
  restartToken?: string;
}

/** As whom the members are asked where etcd's authentication is on. */
export interface AuthSpec {
  /** Secret of type `kubernetes.io/basic-auth` in the cluster's namespace: `username`, `password`. */
  secretName: string;
}

export interface WorkloadSpec {
  kind: "StatefulSet" | "PetSet";
  /** PetSet only: name of the PlacementPolicy (`spec.podPlacementPolicy.name`). */
  podPlacementPolicy?: string;
}

export interface StorageSpec {
  /** Kubernetes quantity, such as `8Gi`. */
  size: string;
  /** Absent: the cluster's default StorageClass. `""`: literally no class. */
  className?: string;
}

export interface ResourcesSpec {
  requests: Record<string, string>;
  limits: Record<string, string>;
}

/** Reference to a cert-manager issuer (`spec.issuerRef` of a Certificate). */
export interface IssuerRef {
  apiGroup: string;
  kind: string;
  name: string;
}

/** Which certificate of the cluster; `metrics-exporter` exists only where the user lists it. */
export type Alias = "server" | "peer" | "client" | "metrics-exporter";

/** Where a cluster's certificates come from: cert-manager, a CA of its own, or Secrets that somebody else maintains. */
export type CertificateSource = "issuer" | "ca" | "secrets";

/** Exactly one of `issuerRef`, `ca` and `secrets` is there. */
export interface TlsSpec {
  issuerRef?: IssuerRef;
  ca?: CaSpec;
  secrets?: GivenSecrets;
  /** The certificates that the cluster uses, in the order server, peer, client. All defaults filled in. */
  certificates: CertificateSpec[];
  /** A token of the user's choice: each new value re-issues every certificate once. Absent: never asked for. */
  rotate?: string;
  client: ClientTlsSpec;
  /** Further CAs that members accept, besides those of the issuers: kept in the trust bundle. */
  trustedCAs: TrustedCa[];
  /** Absent: etcd's default. */
  minVersion?: TlsVersion;
  /** Go's names, of TLS 1.2. Empty: Go's own choice. */
  cipherSuites: string[];
  /** Whether members restart after every re-issue and rotation, or only where they would not notice it otherwise. */
  restartPolicy: "IfRequired" | "Always";
}

export type TlsVersion = "TLS1.2" | "TLS1.3";

/** How clients are served where TLS is on. */
export interface ClientTlsSpec {
  /** Whether clients must show a certificate. `none`: any client that trusts the server's may connect. */
  auth: "required" | "none";
  /** Whether plaintext is served beside TLS: holds the client plane at the bridge. */
  alsoPlaintext: boolean;
}

/** CA certificates: as they are, or in an object of the cluster's namespace. */
export type TrustedCa =
  | { pem: string }
  | { configMap: { name: string; key: string } }
  | { secret: { name: string; key: string } };

/** A CA that the program makes itself, with its key in the Pulumi state and nowhere else. */
export interface CaSpec {
  commonName: string;
  subject: SubjectSpec;
  privateKey: KeySpec;
  /** Go durations of whole hours, such as `87600h0m0s`. */
  duration: string;
  renewBefore: string;
  /** Each new number makes a new CA. */
  generation: number;
}

/** Algorithm and size of a key. */
export interface KeySpec {
  algorithm: "RSA" | "ECDSA" | "Ed25519";
  /** Bits; absent with Ed25519. */
  size?: number;
}

/** Names of Secrets with `tls.crt`, `tls.key` and `ca.crt` that somebody else maintains, in the cluster's namespace. */
export type GivenSecrets = Partial<Record<Alias, string>>;

export interface CertificateSpec {
  alias: Alias;
  /** With the source `issuer` only. */
  issuerRef?: IssuerRef;
  /** Set where the certificate is another's: the client shows the server's. */
  sameAs?: "server";
  secretName: string;
  commonName: string;
  subject: SubjectSpec;
  /** Go durations, such as `2160h0m0s`; absent: cert-manager's default (90 days; renewal after two thirds). Own CA: always there. */
  duration?: string;
  renewBefore?: string;
  /** Required names first, then the user's; no duplicates. */
  dnsNames: string[];
  ipAddresses: string[];
  uris: string[];
  emailAddresses: string[];
  privateKey: KeySpec & {
    encoding: "PKCS1" | "PKCS8";
    rotationPolicy: "Always" | "Never";
  };
  /** cert-manager key usages, such as `server auth`. */
  usages: string[];
}

export interface SubjectSpec {
  organizations?: string[];
  countries?: string[];
  organizationalUnits?: string[];
  localities?: string[];
  provinces?: string[];
  streetAddresses?: string[];
  postalCodes?: string[];
  serialNumber?: string;
}

export interface RolloutSpec {
  /** Longest wait of one step (a member's restart, the gate before it), in seconds. */
  stepTimeoutSeconds: number;
  /** Longest wait for the issue of a certificate, in seconds. Absent: as `stepTimeoutSeconds`. */
  issueTimeoutSeconds?: number;
  /** Longest wait for another update of the same cluster to end, in seconds. Absent: as `stepTimeoutSeconds`. */
  lockTimeoutSeconds?: number;
  /** A token of the user's choice: each new value restarts the members in order. Absent: never asked for. */
  restart?: string;
}

/** Something in the stack config that cannot be accepted, or that deserves a warning. */
export interface ConfigProblem {
  /** Where, in the words of `pulumi config set --path`: `etcd:tls.certificates[1].duration`. */
  path: string;
  /** What was found there; absent where nothing was. */
  value?: unknown;
  /** What must hold. */
  rule: string;
  /** What to write instead. */
  mend: string;
}

/** One field in which two specs differ; an absent side is `undefined`. */
export interface FieldChange {
  /** List items by what names them: `tls.certificates[server].duration`, `extraEnv[GOGC].value`. */
  path: string;
  old: unknown;
  new: unknown;
}

/**
 * What has to be done to come from one spec to the next.
 *
 * - `create`: there is no cluster yet
 * - `none`: nothing that a member or a certificate would notice (`changes` may still name settings such as `rollout`)
 * - `add`, `remove`: TLS comes or goes
 * - `reissue`: another issuer, other certificate specs or other trusted CAs
 * - `rotate`: the same certificates anew
 * - `template`: the members' pods change, certificates and trust do not
 */
export type OperationKind = "create" | "none" | "add" | "remove" | "reissue" | "rotate" | "template";

export interface Operation {
  kind: OperationKind;
  /** Every field that differs; empty for `create`. */
  changes: FieldChange[];
  /** Certificates that get new material: all of them for `create`, `add` and `rotate`, the changed ones for `reissue`. */
  aliases: Alias[];
  /** Whether a certificate's issuer differs, so that another CA may have to be trusted first. Only with `reissue`. */
  issuerChanged: boolean;
  /** Whether another set of CAs may have to be trusted: another issuer, or other `trustedCAs`. Only with `reissue`. */
  caMayChange: boolean;
  /**
   * Whether the members' pods change for other reasons than the TLS operation: fields outside of `tls`, how clients
   * are served where TLS stays on, or a restart for its own sake.
   */
  templateChanged: boolean;
}
