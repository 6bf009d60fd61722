import * as z from "zod";
import { type Check, list, section, text, wholeNumber } from "./fields";
import { canonicalIp, isDnsSubdomain } from "./formats";
import { input as cluster } from "./schema";
import { tls as clusterTls } from "./schema-tls";

const MEMBER_NAME: Check<string> = {
  test: isDnsSubdomain,
  rule: "must be a DNS name: the member's certificates are verified under it",
  mend: "Write the host's name, such as `controller-0` or `etcd-1.example.org`",
};

const ADDRESS: Check<string> = {
  test: (v) => canonicalIp(v) !== undefined || isDnsSubdomain(v),
  rule: "must be an IP address or a DNS name",
  mend: "Write what the other hosts reach it by, such as `10.240.0.10`",
};

const IP: Check<string> = {
  test: (v) => canonicalIp(v) !== undefined,
  rule: "must be an IP address, because etcd listens on no names",
  mend: "Write an address of the host, or `0.0.0.0` for all",
};

const FOLDER: Check<string> = {
  test: (v) => /^(\/[A-Za-z0-9_][A-Za-z0-9._+@-]*)+$/.test(v),
  rule: "must be an absolute path of letters, digits and `. _ + @ -`",
  mend: "Write a path such as `/var/lib/etcd`",
};

const LOCAL_PATH: Check<string> = {
  test: (v) => v.trim() !== "" && !/PRIVATE KEY/.test(v),
  rule: "must be the path of a file, never its content",
  mend: "Write a path such as `~/.ssh/id_ed25519`: the file is read when it is needed, and kept nowhere",
};

const UNIT: Check<string> = {
  test: (v) => /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/.test(v),
  rule: "must be the name of a systemd unit, without its suffix",
  mend: "Write a name such as `etcd`",
};

const SYSTEM_USER: Check<string> = {
  test: (v) => /^[a-z_][a-z0-9_-]{0,31}$/.test(v),
  rule: "must be the name of a user",
  mend: "Write a name such as `etcd`",
};

const PORT: Check<number> = { test: (v) => v >= 1 && v <= 65535, rule: "must be a port", mend: "Leave it out for 22" };

const HOST_KEY: Check<string> = {
  test: (v) => /^SHA256:[A-Za-z0-9+/]{43}=?$/.test(v) || /^(ssh|ecdsa)-[a-z0-9-]+ AAAA[A-Za-z0-9+/]+=*( .*)?$/.test(v),
  rule: "must be a fingerprint (`SHA256:...`) or a public key (`ssh-ed25519 AAAA...`)",
  mend: "On the host itself: `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub`",
};

const SHA256: Check<string> = {
  test: (v) => /^[0-9a-f]{64}$/.test(v),
  rule: "must be a SHA-256 digest of 64 hexadecimal digits",
  mend: "Write what `sha256sum etcd` prints",
};

/** How hosts are reached; each may have its own, and takes from the common one what it leaves out. */
const sshFields = {
  user: text({ ...SYSTEM_USER, mend: "Write the user that SSH logs in as" })
    .optional()
    .meta({
      description: "User that SSH logs in as. Any other than root must be allowed `sudo -n`.",
      default: "root",
    }),
  port: wholeNumber(PORT).optional().meta({ description: "Port of the SSH server.", default: 22 }),
  privateKeyFile: text(LOCAL_PATH).optional().meta({
    description:
      "Path of an OpenSSH private key without a passphrase, on the machine that runs Pulumi. Read when it is needed, never kept. Default: the keys of the agent behind SSH_AUTH_SOCK.",
  }),
  knownHosts: text(LOCAL_PATH).optional().meta({
    description: "Path of a known_hosts file that has the hosts' keys. A host that is not in it is refused.",
    default: "~/.ssh/known_hosts",
  }),
};

const host = section({
  name: text(MEMBER_NAME).meta({ description: "Name of the member, and of the host in its certificates." }),
  address: text(ADDRESS).meta({ description: "IP address or DNS name by which peers and clients reach it." }),
  listenAddress: text(IP).optional().meta({
    description: "IP address that etcd listens on. Default: `address`, or all addresses where that is a name.",
  }),
  ssh: section({
    ...sshFields,
    host: text(ADDRESS).optional().meta({ description: "What SSH dials. Default: `address`." }),
    hostKey: text(HOST_KEY).optional().meta({
      description: "The host's own key, as a fingerprint or a public key. Default: as `knownHosts` has it.",
    }),
  })
    .optional()
    .meta({ description: "How this host is reached, where it differs from `ssh`." }),
});

const HOSTS: Check<unknown[]>[] = [
  {
    test: (v) => v.length >= 1 && v.length <= 7,
    rule: "must have one host for each member, 1 to 7",
    mend: "List 1, 3 or 5 hosts",
  },
];

const { ca, certificates, rotate, client, minVersion, cipherSuites } = clusterTls.out.shape;
const { name, version, extraArgs, extraEnv, rollout } = cluster.shape;

/** What of the cluster's section `tls` has a meaning on hosts. Without `ca` the certificates are handed to the component. */
const tls = section({ ca, certificates, rotate, client, minVersion, cipherSuites });

/** The keys of `EtcdHosts` as people write them. */
export const hostsInput = z.strictObject({
  name,
  version,
  extraArgs,
  extraEnv,
  rollout,
  hosts: list(host, ...HOSTS).meta({ description: "The hosts, one member each. Fixed once the cluster runs." }),
  ssh: section(sshFields).optional().meta({ description: "How the hosts are reached." }),
  binary: section({
    path: text(FOLDER).optional().meta({
      description: "Where etcd is on the hosts. Not together with `file`.",
      default: "/usr/local/bin/etcd",
    }),
    file: text(LOCAL_PATH).optional().meta({
      description: "Path of an etcd binary on the machine that runs Pulumi: it is copied to the hosts.",
    }),
    sha256: text(SHA256)
      .optional()
      .meta({ description: "Digest of `file`; another one restarts the members in order." }),
  })
    .optional()
    .meta({ description: "The etcd binary." }),
  dataDir: text(FOLDER)
    .optional()
    .meta({ description: "etcd's data directory. Fixed once the cluster runs.", default: "/var/lib/etcd" }),
  configDir: text(FOLDER).optional().meta({
    description: "Folder of certificates on the hosts. Fixed once the cluster runs.",
    default: "/etc/etcd",
  }),
  service: text(UNIT)
    .optional()
    .meta({ description: "Name of the systemd unit. Fixed once the cluster runs.", default: "etcd" }),
  user: text(SYSTEM_USER).optional().meta({
    description: "System user that etcd runs as; made where it is missing. Another one restarts the members in order.",
    default: "etcd",
  }),
  tls: tls.optional().meta({
    description:
      "TLS of both planes, with a CA of its own or the certificates that the component is given. Absent: plaintext.",
    type: ["object", "null"],
  }),
});

export type HostsInput = z.output<typeof hostsInput>;
export type HostsTlsInput = NonNullable<HostsInput["tls"]>;
