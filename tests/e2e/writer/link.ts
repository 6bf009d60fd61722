import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { Etcd3, type IOptions } from "etcd3";
import type { EtcdUser, Scheme, WriterConfig } from "./config";

const TOKEN_DEADLINE_MS = 1000;

type FaultHandling = NonNullable<IOptions["faultHandling"]>;

/**
 * No policy of the library's: its circuit breaker keeps away for five seconds from a member that is back already, and
 * its retries run under the deadline of the attempt. Retries are the writer's, by its stated policy.
 */
const once = {
  execute: async (run: (context: { signal: AbortSignal }) => unknown) => run({ signal: new AbortController().signal }),
} as unknown as NonNullable<FaultHandling["global"]>;

/** gRPC would wait longer and longer before it tries a member again that was away. */
const channelOptions: IOptions["grpcOptions"] = {
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.min_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 500,
};

/** One client, and the calls that are on their way through it. */
export class Link {
  readonly #client: Etcd3;
  readonly #calls = new Set<Promise<unknown>>();

  /** @throws where the credential files are not there yet. */
  constructor(
    config: Pick<WriterConfig, "members" | "credentials" | "user">,
    readonly scheme: Scheme,
  ) {
    this.#client = new Etcd3({
      hosts: config.members.map(({ address }) => `${scheme}://${address}`),
      ...(scheme === "https" && { credentials: readCredentials(config.credentials) }),
      ...(config.user && { auth: userOf(config.user) }),
      grpcOptions: channelOptions,
      faultHandling: { global: once, host: () => once },
    });
  }

  put(key: string, value: string, deadlineMs: number): Promise<unknown> {
    const deadline = Date.now() + deadlineMs;
    const call = this.#client.put(key).value(value).options({ deadline }).exec();
    const settled: Promise<unknown> = call.catch(() => undefined).finally(() => this.#calls.delete(settled));
    this.#calls.add(settled);
    return call;
  }

  async status(deadlineMs: number): Promise<void> {
    await this.#client.maintenance.status({ deadline: Date.now() + deadlineMs });
  }

  /** Waits for the calls on their way, then closes the client. */
  async close(): Promise<void> {
    await Promise.all(this.#calls);
    this.#client.close();
  }
}

/** Whether a member lets in, in this way, a client that has no connection to it yet. */
export async function accepts(
  config: WriterConfig,
  member: WriterConfig["members"][number],
  scheme: Scheme,
): Promise<boolean> {
  let link: Link | undefined;
  try {
    link = new Link({ ...config, members: [member] }, scheme);
    await link.status(1000);
    return true;
  } catch {
    return false;
  } finally {
    await link?.close();
  }
}

/** Changes whenever a file is replaced. */
export function stamp({ ca, certificate, key }: WriterConfig["credentials"]): string {
  return [ca, certificate, key].map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs).join();
}

/** Asking for a token has no time limit otherwise, whatever the call's is. */
function userOf({ name, password }: EtcdUser): IOptions["auth"] {
  return { username: name, password, callOptions: () => ({ deadline: Date.now() + TOKEN_DEADLINE_MS }) };
}

/** Throws where one file of a pair has been replaced and the other not yet: OpenSSL would show no certificate at all. */
function readCredentials({ ca, certificate, key }: WriterConfig["credentials"]) {
  const [rootCertificate, certChain, privateKey] = [ca, certificate, key].map((path) => readFileSync(path)) as Material;
  if (!new X509Certificate(certChain).checkPrivateKey(createPrivateKey(privateKey)))
    throw new Error("certificate and key are not of one pair");
  return { rootCertificate, certChain, privateKey };
}

type Material = [Buffer, Buffer, Buffer];
