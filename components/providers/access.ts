import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type * as pulumi from "@pulumi/pulumi";
import type { Ports } from "../../rollout";
import {
  type ClusterAccess,
  EtcdAdapter,
  KubeAdapter,
  loadKubeConfig,
  PodForward,
  SystemClock,
} from "../../rollout/adapters";
import { endWithEngine } from "./engine-connection";
import { EngineReport } from "./report";

/**
 * Where the cluster is: `kubernetes:kubeconfig`, `kubernetes:context` and `kubernetes:cluster` of the stack, else what
 * kubectl would use. Kept in this process's memory and never in inputs: a kubeconfig holds credentials, and what is
 * an input ends in the state file.
 */
let access: ClusterAccess = {};

/** Must stay synchronous: calls for other resources do not wait for it. */
export function configureAccess(request: pulumi.dynamic.ConfigureRequest): void {
  const setting = (key: "kubeconfig" | "context" | "cluster") => {
    const value = request.config.get(`kubernetes:${key}`);
    return value === undefined ? {} : { [key]: value };
  };
  access = { ...setting("kubeconfig"), ...setting("context"), ...setting("cluster") };
}

/** This process, as the Lease of a cluster names it. */
export const holder = `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;

const opened = new Map<string, Promise<Omit<Ports, "report">>>();

/** The engine's ports to the stack's cluster; progress goes to the row of the resource `urn`. */
export async function portsFor(urn: string): Promise<Ports & { report: EngineReport }> {
  endWithEngine();
  const key = JSON.stringify(access);
  let ports = opened.get(key);
  if (!ports) {
    ports = open(access);
    opened.set(key, ports);
    // A kubeconfig that could not be read now may be mended before the next call.
    ports.catch(() => opened.delete(key));
  }
  return { ...(await ports), report: new EngineReport(urn) };
}

async function open(where: ClusterAccess): Promise<Omit<Ports, "report">> {
  const config = loadKubeConfig(where);
  return {
    kube: new KubeAdapter(config),
    etcd: new EtcdAdapter(new PodForward(config)),
    clock: new SystemClock(),
  };
}
