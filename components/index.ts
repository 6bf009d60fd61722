export { EtcdCluster, type EtcdClusterArgs } from "./etcd-cluster";
export { EtcdHost, type EtcdHostArgs, type HostCertificate } from "./etcd-host";
export type { LastOperation } from "./rollout-outputs";
export { readStackConfig } from "./stack-config";
