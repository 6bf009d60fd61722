export { EtcdCluster, type EtcdClusterArgs, type LastOperation } from "./etcd-cluster";
export { readStackConfig } from "./stack-config";
