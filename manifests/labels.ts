import type { EtcdSpec } from "../config/types";

/** What an object is within the cluster; a seed holds the place of a certificate that is still to come. */
export type Component = "member" | "namespace" | "certificate" | "seed" | "trust-bundle";

type Labels = Record<string, string>;

/** Kubernetes' recommended labels, on every object. */
export function labels(spec: Pick<EtcdSpec, "name">, component: Component): Labels {
  return {
    "app.kubernetes.io/name": "etcd",
    "app.kubernetes.io/instance": spec.name,
    "app.kubernetes.io/component": component,
    "app.kubernetes.io/managed-by": "pulumi-etcd",
  };
}

/** Selects the members' pods. Never to be changed: a workload with another selector is another workload. */
export function memberSelector(spec: Pick<EtcdSpec, "name">): Labels {
  return {
    "app.kubernetes.io/name": "etcd",
    "app.kubernetes.io/instance": spec.name,
    "app.kubernetes.io/component": "member",
  };
}
