/** Pod template: what the member speaks on the peer plane (`plain`, `bridge`, `tls`). */
export const PEER_STAGE = "pulumi-etcd/peer-stage";
/** Pod template: what the member speaks on the client plane. */
export const CLIENT_STAGE = "pulumi-etcd/client-stage";
/** Pod template: revision of the trust bundle that the member read when it started. */
export const TRUST_REVISION = "pulumi-etcd/trust-revision";
/** Pod template: another value restarts the members, with nothing else changed. */
export const RESTART_TOKEN = "pulumi-etcd/restart-token";
/** Pod template: hash over the rest of the template, so that every pod says what it was made from. */
export const TEMPLATE_HASH = "pulumi-etcd/template-hash";
/** Workload: the TLS settings that it was rendered from, as JSON: what a walk back needs. Names only, no secrets. */
export const TLS_SETTINGS = "pulumi-etcd/tls";
/** Workload: which program owns the cluster, so that two of one name are noticed. */
export const OWNER = "pulumi-etcd/owner";

/** Field manager that the engine and the Pulumi resource share: with two, each would undo the other's list items. */
export const FIELD_MANAGER = "pulumi-etcd";
