import { METRICS_PORT } from "../../config/names";
import type { PodAddress } from "../ports";
import { EtcdError } from "./etcd-error";
import { metricsOf } from "./metrics";
import type { Transport } from "./transport";

/** etcd's metric whose label is the ID of the member. */
const SERVER_ID = /^etcd_server_id\{server_id="([0-9a-f]+)"\} 1$/m;

/**
 * The ID of the member that runs there, in hexadecimal, from its metrics: they are served before it knows a leader, and
 * its client port is not.
 *
 * @throws EtcdError with code `UNAVAILABLE` where the port is not reached or says nothing of it.
 */
export async function identity(transport: Transport, pod: PodAddress, deadlineMs: number): Promise<string> {
  const id = SERVER_ID.exec(await metricsOf(transport, pod, "identity", deadlineMs))?.[1];
  if (id !== undefined) return id;
  const detail = `port ${METRICS_PORT} does not name the member`;
  throw new EtcdError({ member: pod.pod, call: "identity", code: "UNAVAILABLE", detail, deadlineMs });
}
