import type { ClientCredentials, PodAddress } from "../ports";
import { EtcdError } from "./etcd-error";
import { handshake } from "./tls-handshake";
import { type Transport, TransportError } from "./transport";

/**
 * The leaf that a port of a member serves, PEM, whether or not it is trusted.
 *
 * Where the port demands a client certificate the leaf shows without one too, except under TLS 1.2: pass credentials
 * where there are any.
 *
 * @throws EtcdError with code `UNAVAILABLE` where the port is not reached, `FAILED_PRECONDITION` where it speaks no TLS.
 */
export async function servedCertificate(
  transport: Transport,
  pod: PodAddress,
  port: number,
  credentials: ClientCredentials | undefined,
  deadlineMs: number,
): Promise<string> {
  const fail = (code: string, why: string) =>
    new EtcdError({ member: pod.pod, call: "servedCertificate", code, detail: `port ${port}: ${why}`, deadlineMs });
  const signal = AbortSignal.timeout(deadlineMs);
  try {
    const result = await handshake(await transport.connect(pod, port, deadlineMs), pod.host, credentials, signal);
    if (result.kind === "unreachable") throw fail("UNAVAILABLE", result.why);
    if (result.kind !== "done") throw fail("FAILED_PRECONDITION", `no TLS handshake: ${result.why}`);
    const { raw } = result.socket.getPeerCertificate();
    result.socket.destroy();
    return pem(raw);
  } catch (error) {
    if (error instanceof TransportError) throw fail("UNAVAILABLE", error.message);
    throw error instanceof EtcdError ? error : fail("INVALID_ARGUMENT", (error as Error).message);
  }
}

function pem(der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
