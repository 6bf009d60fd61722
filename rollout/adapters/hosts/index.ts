import type { EtcdSpec, HostsAccess } from "../../../config/types";
import type { HostsPorts } from "../../ports";
import { EtcdAdapter } from "../etcd";
import { SystemClock } from "../system-clock";
import { HostsAdapter } from "./hosts";

export { HostError } from "./host-error";
export { HostsAdapter } from "./hosts";

/** The engine's ports to the hosts of a spec. `close` ends the connections. */
export function openHosts(
  spec: EtcdSpec,
  access: HostsAccess,
): Omit<HostsPorts, "report"> & { close: () => Promise<void> } {
  const hosts = new HostsAdapter(spec, access);
  return {
    kube: hosts,
    hosts,
    etcd: new EtcdAdapter(hosts.transport()),
    clock: new SystemClock(),
    close: () => hosts.close(),
  };
}
