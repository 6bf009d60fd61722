import type { Duplex } from "node:stream";
import type { KubeConfig } from "@kubernetes/client-node";
import type { PodAddress } from "../ports";
import { type ClusterAccess, loadKubeConfig } from "./access";
import { PodStream } from "./pod-stream";
import type { Transport } from "./transport";
import { Tunnel } from "./tunnel";

/** Longest wait for the API server to open a connection that a local client asked for. */
const openTimeoutMs = 10_000;

/**
 * The way to pods through the API server's port-forward, for a machine outside the pods' network.
 *
 * Every connection is forwarded anew, by the pod's name, and so finds a pod that was restarted meanwhile.
 */
export class PodForward implements Transport {
  readonly #config: KubeConfig;
  readonly #tunnels = new Map<string, Promise<Tunnel>>();
  readonly #streams = new Set<Duplex>();
  #closed = false;

  /** @throws KubeError with reason `Invalid` where the kubeconfig cannot be read. */
  constructor(access: ClusterAccess | KubeConfig) {
    this.#config = "getCurrentCluster" in access ? access : loadKubeConfig(access);
  }

  async connect(pod: Pick<PodAddress, "namespace" | "pod">, port: number, timeoutMs: number): Promise<Duplex> {
    if (this.#closed) throw new Error("the port-forward was closed");
    const stream = await PodStream.open(this.#config, pod, port, timeoutMs);
    this.#streams.add(stream);
    stream.once("close", () => this.#streams.delete(stream));
    if (this.#closed) stream.destroy();
    return stream;
  }

  /**
   * A port on 127.0.0.1 that leads to a port of a pod, for any client that dials by itself: one for each port of a
   * pod, good until `close`, across restarts of the pod.
   */
  endpoint(pod: Pick<PodAddress, "namespace" | "pod">, port: number): Promise<{ host: string; port: number }> {
    const key = `${pod.namespace}/${pod.pod}:${port}`;
    const known = this.#tunnels.get(key);
    if (known) return known;
    const made = Tunnel.listen(() => this.connect(pod, port, openTimeoutMs));
    this.#tunnels.set(key, made);
    return made;
  }

  /** Ends every connection and stops listening. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const stream of this.#streams) stream.destroy();
    for (const tunnel of this.#tunnels.values()) (await tunnel).close();
    this.#tunnels.clear();
  }
}
