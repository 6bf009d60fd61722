/** Where things lie in a member's container. */

/** The volume. etcd makes the data directory below it itself, with mode 0700, which a mount point need not have. */
export const VOLUME_PATH = "/var/lib/etcd";
export const DATA_PATH = `${VOLUME_PATH}/data`;

/** Mount points of the TLS material, as KubeDB has them. */
export const SERVER_PATH = "/var/run/etcd/tls/server";
export const PEER_PATH = "/var/run/etcd/tls/peer";
/** Mount point of the trust bundle: never the `ca.crt` of a leaf's Secret, which after a CA change knows only the new one. */
export const TRUST_PATH = "/var/run/etcd/tls/ca";
