import { METRICS_PORT } from "../../config/names";
import type { PodAddress } from "../ports";
import { EtcdError } from "./etcd-error";
import { get } from "./plain-http";
import { type Transport, TransportError } from "./transport";

/**
 * A member's metrics, as it serves them in the clear: before it knows a leader, and when its client port is silent.
 *
 * @throws EtcdError with code `UNAVAILABLE` where the port is not reached or does not answer.
 */
export async function metricsOf(
  transport: Transport,
  pod: PodAddress,
  call: string,
  deadlineMs: number,
): Promise<string> {
  const fail = (why: string) => new EtcdError({ member: pod.pod, call, code: "UNAVAILABLE", detail: why, deadlineMs });
  const connection = await transport.connect(pod, METRICS_PORT, deadlineMs).catch((error: Error) => {
    throw error instanceof TransportError ? fail(error.message) : error;
  });
  const answer = await get(connection, "/metrics", deadlineMs);
  if (answer === undefined) throw fail(`port ${METRICS_PORT} does not answer`);
  return answer.body;
}
