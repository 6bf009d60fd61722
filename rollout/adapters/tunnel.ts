import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/**
 * A port on 127.0.0.1 that leads elsewhere, for clients that dial by themselves. Each connection opens one of its own
 * at the far end. Does not keep the process from ending.
 */
export class Tunnel {
  readonly host = "127.0.0.1";
  readonly #server: Server;
  readonly #open: () => Promise<Duplex>;
  readonly #ends = new Set<Duplex>();
  #trouble: Error | undefined;
  #closed = false;
  #port = 0;

  /** @param open Makes a connection to the far end. */
  static async listen(open: () => Promise<Duplex>): Promise<Tunnel> {
    const tunnel = new Tunnel(open);
    await new Promise<void>((resolve, reject) => {
      tunnel.#server.once("error", reject);
      tunnel.#server.listen(0, tunnel.host, resolve);
    });
    tunnel.#server.unref();
    tunnel.#port = (tunnel.#server.address() as AddressInfo).port;
    return tunnel;
  }

  private constructor(open: () => Promise<Duplex>) {
    this.#open = open;
    this.#server = createServer((socket) => this.#carry(socket));
  }

  /** Zero until it listens. */
  get port(): number {
    return this.#port;
  }

  /** The newest error of the far end, if there was one. */
  get trouble(): Error | undefined {
    return this.#trouble;
  }

  /** Breaks the connections, also those of a client that would not let go of them, and stops listening. */
  close(): void {
    this.#closed = true;
    this.#server.close();
    for (const end of this.#ends) end.destroy();
  }

  async #carry(socket: Socket): Promise<void> {
    socket.on("error", () => {});
    this.#track(socket);
    let far: Duplex;
    try {
      far = this.#track(await this.#open());
      // What happened before anyone listened is not told again.
      if (far.destroyed) throw far.errored ?? new Error("the connection was closed");
    } catch (error) {
      this.#trouble = error as Error;
      socket.resetAndDestroy();
      return;
    }
    far.on("error", (error: Error) => {
      this.#trouble = error;
    });
    // What has arrived in full is still handed on; what broke off breaks off here as well.
    far.on("close", () => (far.readableEnded ? socket.end() : socket.destroy()));
    socket.on("close", () => far.destroy());
    if (this.#closed || socket.destroyed) far.destroy();
    socket.pipe(far).pipe(socket);
  }

  #track<T extends Duplex>(end: T): T {
    this.#ends.add(end);
    end.once("close", () => this.#ends.delete(end));
    return end;
  }
}
