/** Where and how the members run on hosts. Part of the spec: a member's service follows from it. */
export interface HostsSpec {
  /** One member a host, in the order of their ordinals. Fixed once the cluster runs. */
  members: HostSpec[];
  /** Path of the etcd binary on the hosts. */
  binary: string;
  /** etcd's data directory. Fixed once the cluster runs. */
  dataDir: string;
  /** Folder of certificates and of what the engine keeps beside them. Fixed once the cluster runs. */
  configDir: string;
  /** systemd unit without its suffix. Fixed once the cluster runs. */
  service: string;
  /** System user (and group) that etcd runs as; made where it is missing. */
  user: string;
}

export interface HostSpec {
  /** Name of the member in etcd; its certificates are verified under this name. */
  name: string;
  /** IP address or DNS name under which peers and clients reach it. */
  address: string;
  /** IP address that it listens on; `0.0.0.0` and `::` mean all. */
  listenAddress: string;
}

/** How the hosts are reached. No part of the spec: nothing on the hosts follows from it. Paths only, no secrets. */
export interface HostsAccess {
  hosts: HostAccess[];
  /** An etcd binary of this machine that is copied to the hosts; absent: it is there already. */
  upload?: { file: string; sha256: string };
}

export interface HostAccess {
  /** Name of the member that runs there. */
  name: string;
  /** IP address or DNS name that SSH dials. */
  host: string;
  port: number;
  user: string;
  /** Path of an OpenSSH private key without a passphrase. Absent: the agent of `SSH_AUTH_SOCK`. */
  privateKeyFile?: string;
  /** The host's key: `SHA256:...`, or a public key as `ssh-keyscan` prints it (`ssh-ed25519 AAAA...`). */
  hostKey?: string;
  /** Path of a known_hosts file that has the host's key; looked at where `hostKey` is absent. */
  knownHosts?: string;
}
