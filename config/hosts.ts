import { DEFAULT_CLIENT } from "./defaults-tls";
import { canonicalIp } from "./formats";
import { type OwnTls, ownTls, ownTlsProblems } from "./hosts-own-ca";
import { type SchemaNode, schemaOf } from "./json-schema";
import { readInput, rolloutSpec } from "./parse";
import { ConfigError, configPath } from "./problems";
import { restartToken } from "./restart-token";
import { warnings } from "./rules";
import { flagProblems } from "./rules-flags";
import { cipherProblems } from "./rules-tls";
import type { RequiredSans } from "./sans";
import { DEFAULT_VERSION } from "./schema";
import { type HostsInput, hostsInput } from "./schema-hosts";
import { ownCertificates } from "./source";
import { suiteKeyProblems } from "./suite-keys";
import type {
  Alias,
  CertificateSpec,
  ConfigProblem,
  EtcdSpec,
  HostAccess,
  HostSpec,
  HostsAccess,
  HostsSpec,
  TlsSpec,
} from "./types";

export interface ParsedHosts {
  spec: EtcdSpec;
  access: HostsAccess;
  /** What a CA of the cluster's own is to make; absent where certificates are handed in. No part of the spec. */
  own?: OwnTls;
  warnings: ConfigProblem[];
}

/** The certificates that are handed in; what is left out is the server's. */
export type HostsMaterialAliases = readonly Exclude<Alias, "metrics-exporter">[];

const DEFAULT_NAME = "etcd";

/** Appears in messages and in the cluster's token. */
const NAMESPACE = "hosts";

/** Fields that only pods and volumes are made from; nobody looks at them where there are hosts. */
const KUBERNETES_ONLY = {
  image: "",
  imagePullPolicy: "IfNotPresent",
  workload: { kind: "StatefulSet" },
  storage: { size: "" },
  resources: { requests: {}, limits: {} },
  clusterDomain: "",
} as const;

let schemaOnce: SchemaNode | undefined;

/** JSON schema of the keys of `EtcdHosts`. */
export function hostsSchema(): SchemaNode {
  schemaOnce ??= schemaOf(hostsInput);
  return schemaOnce;
}

/**
 * The keys of `EtcdHosts` -> spec and access, with every default filled in.
 *
 * @param handedIn the certificates that there are without `tls.ca`. Server is always one; peer and client are the
 * server's where left out.
 * @throws ConfigError
 */
export function parseHosts(raw: Record<string, unknown>, handedIn: HostsMaterialAliases = []): ParsedHosts {
  const wish = readInput(hostsInput, hostsSchema(), raw);
  const problems = [
    ...crossProblems(wish),
    ...(wish.tls ? ownTlsProblems(wish.tls, wish.name ?? DEFAULT_NAME, handedIn) : []),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  const own = ownOf(wish);
  const spec = hostsSpec(wish, own ? ownCertificates(own).map(({ alias }) => alias) : handedIn);
  const unservable = suiteKeyProblems(spec, own?.certificates ?? []);
  if (unservable.length > 0) throw new ConfigError(unservable);
  const token = restartToken(spec);
  if (token !== undefined) spec.restartToken = token;
  return { spec, access: accessOf(wish), ...(own && { own }), warnings: warnings(spec) };
}

function ownOf({ tls, name = DEFAULT_NAME, hosts }: HostsInput): OwnTls | undefined {
  if (!tls?.ca) return undefined;
  return ownTls(tls, name, hosts.length, hostSans({ members: hosts.map(placeOf) }));
}

/** Names and addresses that the server's and the peers' certificates must carry: every host dials every other. */
export function hostSans({ members }: Pick<HostsSpec, "members">): RequiredSans {
  const all = [...members.flatMap(({ name, address }) => [name, address]), "localhost", "127.0.0.1", "::1"];
  const ips = all.flatMap((each) => canonicalIp(each) ?? []);
  const names = all.filter((each) => canonicalIp(each) === undefined);
  return { dnsNames: [...new Set(names)], ipAddresses: [...new Set(ips)] };
}

function hostsSpec(wish: HostsInput, own: readonly Alias[]): EtcdSpec {
  const hosts = placesOf(wish);
  return {
    name: wish.name ?? DEFAULT_NAME,
    namespace: NAMESPACE,
    createNamespace: false,
    replicas: hosts.members.length,
    version: wish.version ?? DEFAULT_VERSION,
    ...KUBERNETES_ONLY,
    extraArgs: wish.extraArgs ?? {},
    extraEnv: wish.extraEnv ?? [],
    ...(wish.tls && { tls: tlsOf(wish.tls, hosts, own) }),
    rollout: rolloutSpec(wish.rollout ?? {}),
    hosts,
  };
}

function placesOf(wish: HostsInput): HostsSpec {
  const { path = "/usr/local/bin/etcd", sha256 } = wish.binary ?? {};
  return {
    members: wish.hosts.map(placeOf),
    // Named by content: another binary is another service file, and so restarts the members one by one.
    binary: sha256 === undefined ? path : `/usr/local/lib/pulumi-etcd/etcd-${sha256.slice(0, 12)}`,
    dataDir: wish.dataDir ?? "/var/lib/etcd",
    configDir: wish.configDir ?? "/etc/etcd",
    service: wish.service ?? "etcd",
    user: wish.user ?? "etcd",
  };
}

function placeOf({ name, address, listenAddress }: HostsInput["hosts"][number]): HostSpec {
  const ip = canonicalIp(address);
  return { name, address: ip ?? address, listenAddress: canonicalIp(listenAddress ?? "") ?? ip ?? "0.0.0.0" };
}

function tlsOf(wish: NonNullable<HostsInput["tls"]>, hosts: HostsSpec, own: readonly Alias[]): TlsSpec {
  const certificates = (["server", "peer", "client"] as const).map((alias) =>
    certificateOf(alias, own.includes(alias) ? alias : "server", hosts),
  );
  // No issuer: the certificates are handed in.
  return {
    certificates,
    client: { ...DEFAULT_CLIENT, ...wish.client },
    trustedCAs: [],
    ...(wish.minVersion !== undefined && { minVersion: wish.minVersion }),
    cipherSuites: [...new Set(wish.cipherSuites ?? [])],
    restartPolicy: "IfRequired",
  };
}

/** What a certificate that is handed in must be like. `secretName`: the folder of its files on the hosts. */
function certificateOf(alias: Alias, folder: string, hosts: HostsSpec): CertificateSpec {
  const sans = alias === "client" && folder === "client" ? { dnsNames: [], ipAddresses: [] } : hostSans(hosts);
  return {
    alias,
    secretName: folder,
    commonName: "",
    subject: {},
    ...sans,
    uris: [],
    emailAddresses: [],
    privateKey: { algorithm: "RSA", encoding: "PKCS1", rotationPolicy: "Always" },
    usages: [],
  };
}

function accessOf({ hosts, ssh = {}, binary = {} }: HostsInput): HostsAccess {
  const { file, sha256 } = binary;
  return {
    hosts: hosts.map((host) => hostAccess(host, ssh)),
    ...(file !== undefined && sha256 !== undefined && { upload: { file, sha256 } }),
  };
}

function hostAccess(
  { name, address, ssh: own = {} }: HostsInput["hosts"][number],
  common: NonNullable<HostsInput["ssh"]>,
): HostAccess {
  const { user = "root", port = 22, privateKeyFile, knownHosts = "~/.ssh/known_hosts" } = { ...common, ...own };
  return {
    name,
    host: own.host ?? address,
    port,
    user,
    ...(privateKeyFile !== undefined && { privateKeyFile }),
    ...(own.hostKey !== undefined ? { hostKey: own.hostKey } : { knownHosts }),
  };
}

function crossProblems(wish: HostsInput): ConfigProblem[] {
  return [
    ...repeated(wish, "name"),
    ...repeated(wish, "address"),
    ...binaryProblems(wish.binary ?? {}),
    ...flagProblems({ extraArgs: wish.extraArgs ?? {}, version: wish.version ?? DEFAULT_VERSION }),
    ...(wish.tls ? cipherProblems(wish.tls) : []),
  ];
}

function repeated({ hosts }: HostsInput, field: "name" | "address"): ConfigProblem[] {
  const values = hosts.map((host) => host[field]);
  return values.flatMap((value, index) =>
    values.indexOf(value) === index
      ? []
      : [
          {
            path: configPath(["hosts", index, field]),
            value,
            rule: `must be of one host only, and is that of hosts[${values.indexOf(value)}] already`,
            mend: "Give each host its own",
          },
        ],
  );
}

function binaryProblems({ path, file, sha256 }: NonNullable<HostsInput["binary"]>): ConfigProblem[] {
  if (file !== undefined && path !== undefined) {
    const rule = "has no meaning together with file: the copy is kept under a name of its own";
    return [{ path: configPath(["binary", "path"]), value: path, rule, mend: "Leave one of the two out" }];
  }
  if ((file === undefined) === (sha256 === undefined)) return [];
  const lacking = file === undefined ? "file" : "sha256";
  const mend = lacking === "file" ? "Name the file, or leave sha256 out" : "Write what `sha256sum` prints for the file";
  return [{ path: configPath(["binary", lacking]), rule: "is required: file and sha256 come together", mend }];
}
