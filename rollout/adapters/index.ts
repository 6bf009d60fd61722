export { type ClusterAccess, loadKubeConfig } from "./access";
export type { ApiClientOptions } from "./api-client";
export { EtcdAdapter, type EtcdAdapterOptions } from "./etcd";
export { EtcdError } from "./etcd-error";
export { PodForward } from "./forward";
export { fieldManager, KubeAdapter } from "./kube";
export { KubeError, type KubeErrorReason } from "./kube-error";
export { SystemClock } from "./system-clock";
export { DirectTransport, type Transport, TransportError } from "./transport";
