import { METRICS_PORT } from "../../config/names";
import type { PodAddress } from "../ports";
import { EtcdError } from "./etcd-error";
import { get } from "./plain-http";
import { type Transport, TransportError } from "./transport";

/** etcd's metric whose label is the ID of the member. */
const SERVER_ID = /^etcd_server_id\{server_id="([0-9a-f]+)"\} 1$/m;

/**
 * The ID of the member that runs there, in hexadecimal, from its metrics: they are served before it knows a leader, and
 * its client port is not.
 *
 * @throws EtcdError with code `UNAVAILABLE` where the port is not reached or says nothing of it.
 */
export async function identity(transport: Transport, pod: PodAddress, deadlineMs: number): Promise<string> {
  const fail = (why: string) =>
    new EtcdError({ member: pod.pod, call: "identity", code: "UNAVAILABLE", detail: why, deadlineMs });
  const connection = await transport.connect(pod, METRICS_PORT, deadlineMs).catch((error: Error) => {
    throw error instanceof TransportError ? fail(error.message) : error;
  });
  const answer = await get(connection, "/metrics", deadlineMs);
  const id = SERVER_ID.exec(answer?.body ?? "")?.[1];
  if (id === undefined) throw fail(`port ${METRICS_PORT} does not name the member`);
  return id;
}
