import { Etcd3, type IOptions } from "etcd3";
import type { MemberAddress } from "../ports";
import { EtcdError } from "./etcd-error";
import type { Transport } from "./transport";
import { Tunnel } from "./tunnel";

type FaultHandling = NonNullable<IOptions["faultHandling"]>;

/**
 * Runs a call once and hands on whatever comes of it. The client's own policies would repeat calls past their
 * deadline, and answer for a member (`circuit breaker is open`) without asking it; a token that is not valid any more
 * it would send again and again, from within the call.
 */
function once(): NonNullable<FaultHandling["global"]> {
  let isRunning = false;
  const execute = async (run: (context: { signal: AbortSignal }) => unknown) => {
    if (isRunning) throw new Error("16 UNAUTHENTICATED: etcdserver: invalid auth token");
    isRunning = true;
    try {
      return await run({ signal: new AbortController().signal });
    } finally {
      isRunning = false;
    }
  };
  return { execute } as unknown as NonNullable<FaultHandling["global"]>;
}

/** Time that gRPC itself is given to report a passed deadline before the call is given up on. */
const graceMs = 500;

/**
 * Calls one member, over a connection of its own.
 *
 * A connection is not kept for the next call: what is asked is whether the member serves **now**, as its listener and
 * certificates are now, and a kept connection would wait out a back-off after each restart of the member.
 *
 * @throws EtcdError
 */
export async function callMember<T>(
  transport: Transport,
  member: MemberAddress,
  call: string,
  deadlineMs: number,
  port: number,
  run: (client: Etcd3, deadline: number) => Promise<T>,
): Promise<T> {
  const deadline = Date.now() + deadlineMs;
  // Not dialled by gRPC itself: a connection that hangs in its TLS handshake survives the closing of a gRPC client,
  // and why a pod is out of reach would be lost.
  const tunnel = await Tunnel.listen(() => transport.connect(member, port, Math.max(1, deadline - Date.now())));
  let client: Etcd3 | undefined;
  const attempt = async () => {
    client = new Etcd3(clientOptions(tunnel, member));
    return run(client, deadline);
  };
  try {
    return await within(attempt(), deadlineMs + graceMs);
  } catch (error) {
    const { code, detail } = grpcStatus(error as Error);
    const why = tunnel.trouble?.message ?? detail;
    throw new EtcdError({ member: member.pod, call, code, detail: why, deadlineMs }, { cause: error });
  } finally {
    client?.close();
    tunnel.close();
  }
}

function clientOptions(endpoint: { host: string; port: number }, member: MemberAddress): IOptions {
  const { scheme, credentials } = member;
  return {
    hosts: `${scheme}://${endpoint.host}:${endpoint.port}`,
    ...(scheme === "https" &&
      credentials && {
        credentials: {
          rootCertificate: Buffer.from(credentials.caBundle),
          ...(credentials.key && { privateKey: Buffer.from(credentials.key) }),
          ...(credentials.certificate && { certChain: Buffer.from(credentials.certificate) }),
        },
      }),
    grpcOptions: {
      // The connection goes to 127.0.0.1; the name that counts is the member's.
      "grpc.ssl_target_name_override": member.host,
      "grpc.default_authority": member.host,
      // A pool shared by the whole process would hand over a connection made with older credentials.
      "grpc.use_local_subchannel_pool": 1,
      // http_proxy in the environment is not meant for the members.
      "grpc.enable_http_proxy": 0,
      "grpc.enable_retries": 0,
      "grpc.service_config_disable_resolution": 1,
    },
    faultHandling: { host: once, global: once() },
  };
}

/** gRPC's status, which etcd3 leaves only in the message: `14 UNAVAILABLE: ...`. */
function grpcStatus(error: Error): { code: string; detail: string } {
  const match = /(?:^|: )\d+ ([A-Z_]+): (.*)$/s.exec(error.message);
  return match ? { code: match[1]!, detail: match[2]! } : { code: codeOf(error), detail: error.message };
}

function codeOf(error: Error): string {
  return error instanceof DeadlineError ? "DEADLINE_EXCEEDED" : "UNKNOWN";
}

class DeadlineError extends Error {}

async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlineError("no answer in time")), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => {});
  }
}
