import { METRICS_PORT } from "../../config/names";
import type { PodAddress, Vitals } from "../ports";
import { EtcdError } from "./etcd-error";
import { metricsOf } from "./metrics";
import { get } from "./plain-http";
import type { Transport } from "./transport";

/** etcd's metric whose label is the ID of the member. */
const SERVER_ID = /^etcd_server_id\{server_id="([0-9a-f]+)"\} 1$/m;
const VERSION = /^etcd_server_version\{server_version="([\d.]+)"\} 1$/m;
const IS_LEADER = /^etcd_server_is_leader 1$/m;
/** What /health answers while an alarm is raised, whether or not there is a quorum. */
const ALARM = /"reason":"ALARM (\w+)"/;

/**
 * The ID of the member that runs there, in hexadecimal, from its metrics: they are served before it knows a leader, and
 * its client port is not.
 *
 * @throws EtcdError with code `UNAVAILABLE` where the port is not reached or says nothing of it.
 */
export async function identity(transport: Transport, pod: PodAddress, deadlineMs: number): Promise<string> {
  return idIn(await metricsOf(transport, pod, "identity", deadlineMs), pod, "identity", deadlineMs);
}

/** What a member tells in the clear on its metrics port, whomever it refuses elsewhere. Fails as `identity` does. */
export async function vitals(transport: Transport, pod: PodAddress, deadlineMs: number): Promise<Vitals> {
  const metrics = await metricsOf(transport, pod, "vitals", deadlineMs);
  const id = idIn(metrics, pod, "vitals", deadlineMs);
  const connection = await transport.connect(pod, METRICS_PORT, deadlineMs);
  const health = await get(connection, "/health?serializable=true", deadlineMs);
  const alarm = ALARM.exec(health?.body ?? "")?.[1];
  const version = VERSION.exec(metrics)?.[1];
  return { id, leads: IS_LEADER.test(metrics), ...(version && { version }), ...(alarm && { alarm }) };
}

function idIn(metrics: string, { pod: member }: PodAddress, call: string, deadlineMs: number): string {
  const id = SERVER_ID.exec(metrics)?.[1];
  if (id !== undefined) return id;
  const detail = `port ${METRICS_PORT} does not name the member`;
  throw new EtcdError({ member, call, code: "UNAVAILABLE", detail, deadlineMs });
}
