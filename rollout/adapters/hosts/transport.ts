import type { Duplex } from "node:stream";
import { METRICS_PORT } from "../../../config/names";
import type { PodAddress } from "../../ports";
import { type Transport, TransportError } from "../transport";
import type { Ssh } from "./ssh";

/** A member's host, and where its ports are as the host itself sees them. */
export interface Place {
  ssh: Ssh;
  /** Address that the member listens on, for clients and peers and, mostly another, for metrics. */
  address: string;
  metricsAddress: string;
}

/** To the members' ports through their hosts' SSH servers, as the host itself would dial them. */
export class SshTransport implements Transport {
  readonly #places: Map<string, Place>;

  /** @param places By the member's name. */
  constructor(places: Map<string, Place>) {
    this.#places = places;
  }

  async connect(pod: PodAddress, port: number, timeoutMs: number): Promise<Duplex> {
    const place = this.#places.get(pod.pod);
    if (!place) throw new TransportError(`${pod.pod}: no such host`);
    return within(timeoutMs, place.ssh.forward(port === METRICS_PORT ? place.metricsAddress : place.address, port));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#places.values()].map(({ ssh }) => ssh.close()));
  }
}

/** A channel that comes too late is closed. */
function within(timeoutMs: number, opening: Promise<Duplex>): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      reject(new TransportError(`no connection within ${timeoutMs} ms`));
    }, timeoutMs);
    opening.then(
      (channel) => {
        clearTimeout(timer);
        if (late) channel.destroy();
        else resolve(channel);
      },
      (error: Error) => {
        clearTimeout(timer);
        reject(new TransportError(error.message));
      },
    );
  });
}
