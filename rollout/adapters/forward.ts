import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { KubeConfig } from "@kubernetes/client-node";
import type { PodAddress } from "../ports";
import { type ClusterAccess, loadKubeConfig } from "./access";
import { PodStream } from "./pod-stream";
import type { Endpoint, Transport } from "./transport";

/** Longest wait for the API server to open a connection that a local client asked for. */
const openTimeoutMs = 10_000;

/**
 * The way to pods through the API server's port-forward, for a machine outside the pods' network.
 *
 * For clients that dial by themselves it listens on 127.0.0.1, one port for each port of a pod. Every connection is
 * forwarded anew, by the pod's name, and so finds a pod that was restarted meanwhile. Nothing here keeps the
 * process from ending.
 */
export class PodForward implements Transport {
  readonly #config: KubeConfig;
  readonly #endpoints = new Map<string, Promise<Endpoint>>();
  readonly #servers = new Set<Server>();
  readonly #streams = new Set<Duplex>();
  #closed = false;

  /** @throws KubeError with reason `Invalid` where the kubeconfig cannot be read. */
  constructor(access: ClusterAccess | KubeConfig) {
    this.#config = "getCurrentCluster" in access ? access : loadKubeConfig(access);
  }

  endpoint(pod: PodAddress, port: number): Promise<Endpoint> {
    const key = `${pod.namespace}/${pod.pod}:${port}`;
    const known = this.#endpoints.get(key);
    if (known) return known;
    const made = this.#listen(pod, port);
    this.#endpoints.set(key, made);
    made.catch(() => this.#endpoints.delete(key));
    return made;
  }

  async connect(pod: PodAddress, port: number, timeoutMs: number): Promise<Duplex> {
    if (this.#closed) throw new Error("the port-forward was closed");
    const stream = await PodStream.open(this.#config, pod, port, timeoutMs);
    if (this.#closed) stream.destroy();
    return this.#track(stream);
  }

  /** Ends every connection and stops listening. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const server of this.#servers) server.close();
    for (const stream of this.#streams) stream.destroy();
    this.#endpoints.clear();
    this.#servers.clear();
  }

  async #listen(pod: PodAddress, port: number): Promise<Endpoint> {
    if (this.#closed) throw new Error("the port-forward was closed");
    let trouble: { at: number; why: string } | undefined;
    const note = (error: Error) => {
      trouble = { at: Date.now(), why: error.message };
    };
    const server = createServer((socket) => this.#forward(socket, pod, port, note));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    server.on("error", note);
    server.unref();
    this.#servers.add(server);
    return {
      host: "127.0.0.1",
      port: (server.address() as AddressInfo).port,
      trouble: (since) => (trouble && trouble.at >= since ? trouble.why : undefined),
    };
  }

  async #forward(socket: Socket, pod: PodAddress, port: number, note: (error: Error) => void): Promise<void> {
    socket.on("error", () => {});
    this.#track(socket);
    let stream: Duplex;
    try {
      stream = await this.connect(pod, port, openTimeoutMs);
    } catch (error) {
      note(error as Error);
      socket.resetAndDestroy();
      return;
    }
    stream.on("error", note);
    stream.on("close", () => (stream.readableEnded ? socket.end() : socket.destroy()));
    socket.on("close", () => stream.destroy());
    if (socket.destroyed) stream.destroy();
    socket.pipe(stream).pipe(socket);
  }

  #track<T extends Duplex>(stream: T): T {
    this.#streams.add(stream);
    stream.once("close", () => this.#streams.delete(stream));
    return stream;
  }
}
