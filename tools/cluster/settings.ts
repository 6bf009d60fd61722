import { readFileSync, writeFileSync } from "node:fs";
import type { ProcessIdentity } from "../process-identity.ts";
import { cloneId, paths } from "./clone.ts";

/** What is fixed: it is inside the cluster's own network, where it disturbs nobody. */
export const fixed = {
  nodeName: "node-1",
  clusterDomain: "cluster.local",
  podSubnet: "10.244.0.0/24",
  /** The address of the bridge that all pods are on; the cluster's DNS answers there. */
  bridgeAddress: "10.244.0.1",
  serviceSubnet: "10.96.0.0/16",
  bridge: "cni0",
  cgroup: `pulumi-etcd-${cloneId}`,
  /** Network interfaces have at most 15 characters. */
  hostInterface: `petcd-${cloneId}`,
};

/** What differs from one start to the next. */
export interface Settings {
  /** The addresses of the two ends of the link between the machine and the cluster. */
  hostAddress: string;
  nodeAddress: string;
  /** The process that holds the cluster's namespaces: everything ends with it. */
  keeper?: ProcessIdentity;
  /** The processes that have been started, by name. */
  processes: Record<string, ProcessIdentity>;
  /** One hash for each image that has been imported. */
  images: Record<string, string>;
  /** Written when everything has been seen working. */
  ready?: boolean;
}

export function readSettings(): Settings | undefined {
  try {
    return JSON.parse(readFileSync(paths.settings, "utf8"));
  } catch {
    return undefined; // no cluster, or one whose start was cut short before it had any process
  }
}

export function writeSettings(settings: Settings): void {
  writeFileSync(paths.settings, `${JSON.stringify(settings, undefined, 2)}\n`);
}
