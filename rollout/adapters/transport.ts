import { createConnection } from "node:net";
import type { Duplex } from "node:stream";
import type { PodAddress } from "../ports";

/** The way to the pods. */
export interface Transport {
  /**
   * A connection to a port of a pod. That the pod cannot be reached is told by a TransportError: the promise
   * rejects with it, or the stream is destroyed with it. A stream that ends or breaks in any other way was ended by the pod.
   */
  connect(pod: PodAddress, port: number, timeoutMs: number): Promise<Duplex>;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** The pod's port could not be reached: no such pod, nothing listens there, or the way to it is broken. */
export class TransportError extends Error {
  override readonly name = "TransportError";
}

/** Dials a host and port as they are: for a network that the pods are part of, and for tests. */
export class DirectTransport implements Transport {
  readonly #resolve: (pod: PodAddress, port: number) => { host: string; port: number };

  /** @param resolve Where a pod's port is dialled. Default: the pod's FQDN. */
  constructor(
    resolve: (pod: PodAddress, port: number) => { host: string; port: number } = ({ host }, port) => ({ host, port }),
  ) {
    this.#resolve = resolve;
  }

  connect(pod: PodAddress, port: number, timeoutMs: number): Promise<Duplex> {
    const target = this.#resolve(pod, port);
    return new Promise((resolve, reject) => {
      const socket = createConnection(target);
      const fail = (why: string) => {
        socket.destroy();
        reject(new TransportError(`${target.host}:${target.port}: ${why}`));
      };
      const timer = setTimeout(() => fail(`no connection within ${timeoutMs} ms`), timeoutMs);
      socket.on("error", (error) => fail(error.message));
      socket.on("connect", () => resolve(socket));
      socket.once("connect", () => clearTimeout(timer));
      socket.once("close", () => clearTimeout(timer));
    });
  }

  /** Nothing to do: connections belong to those who asked for them. */
  async close(): Promise<void> {}
}
