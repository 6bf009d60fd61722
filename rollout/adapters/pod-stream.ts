import { Duplex, PassThrough, Writable } from "node:stream";
import { type KubeConfig, PortForward } from "@kubernetes/client-node";
import { grant } from "./kube-error";
import { TransportError } from "./transport";

/** The part of a WebSocket that is used here. */
interface Socket {
  addEventListener(event: "close", listener: () => void): void;
  close(): void;
  terminate(): void;
}

/**
 * One connection to a port of a pod, through the API server's port-forward.
 *
 * The API server accepts it before anything in the pod has been dialled; that nothing listens there arrives
 * afterwards, on a channel of its own, and destroys the stream with a TransportError.
 */
export class PodStream extends Duplex {
  readonly #what: string;
  /** What we send: port-forward reads it as a stream. */
  readonly #input = new PassThrough();
  #socket: Socket | undefined;

  /** @throws TransportError where the API server does not make the connection within `timeoutMs`. */
  static async open(
    config: KubeConfig,
    pod: { namespace: string; pod: string },
    port: number,
    timeoutMs: number,
  ): Promise<PodStream> {
    const stream = new PodStream(`port-forward to pod ${pod.namespace}/${pod.pod}, port ${port}`);
    const opening = stream.#open(bounded(config, timeoutMs), pod, port);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(stream.#error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    });
    try {
      await Promise.race([opening, late]);
      return stream;
    } catch (error) {
      stream.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  private constructor(what: string) {
    super({ allowHalfOpen: false });
    this.#what = what;
    // Whoever uses the stream listens too; this one keeps an error in an idle moment from ending the process.
    this.on("error", () => {});
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#input.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#input.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#input.destroy();
    this.#socket?.terminate();
    done(error);
  }

  async #open(config: KubeConfig, { namespace, pod }: { namespace: string; pod: string }, port: number): Promise<void> {
    const forward = new PortForward(config);
    let socket: Socket;
    try {
      const opened = await forward.portForward(namespace, pod, [port], this.#output(), this.#trouble(), this.#input);
      socket = opened as unknown as Socket;
    } catch (error) {
      throw this.#error(explained((error as { message?: string }).message || "connection failed"));
    }
    this.#socket = socket;
    socket.addEventListener("close", () => this.push(null));
    // Given up on, or refused by the pod, before the promise was kept.
    if (this.destroyed) socket.terminate();
  }

  #output(): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (chunk.length > 0 && !this.destroyed) this.push(chunk);
        done();
      },
    });
  }

  #trouble(): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (chunk.length > 0) this.destroy(this.#error(chunk.toString().trim()));
        done();
      },
    });
  }

  #error(why: string): TransportError {
    return new TransportError(`${this.#what}: ${why}`);
  }
}

/** The answer to a WebSocket's handshake comes without the API server's own words. */
function explained(why: string): string {
  if (!/response: 403$/.test(why)) return why;
  return `Forbidden (403): it takes the verbs get and create on the resource pods/portforward. ${grant}`;
}

/** The same access, with a limit on the WebSocket's handshake: one that hangs could not be ended otherwise. */
function bounded(config: KubeConfig, timeoutMs: number): KubeConfig {
  const own: KubeConfig = Object.create(config);
  own.applyToHTTPSOptions = async (options: { handshakeTimeout?: number }) => {
    await config.applyToHTTPSOptions(options);
    options.handshakeTimeout = timeoutMs;
  };
  return own;
}
