import { clientServiceName, headlessServiceName } from "../config/names";
import type { ConfigProblem, EtcdSpec } from "../config/types";
import type { Ports } from "./ports";
import { claimNames } from "./volumes";

/** What is left of a cluster whose workload is gone. */
export interface Traces {
  services: boolean;
  volumes: boolean;
}

export async function findTraces({ kube }: Ports, spec: EtcdSpec): Promise<Traces> {
  const isThere = async (kind: string, names: string[]) => {
    const found = await Promise.all(names.map((name) => kube.get("v1", kind, spec.namespace, name)));
    return found.some((object) => object !== undefined);
  };
  return {
    services: await isThere("Service", [clientServiceName(spec), headlessServiceName(spec)]),
    volumes: await isThere("PersistentVolumeClaim", claimNames(spec)),
  };
}

/** The state knows a cluster, and nothing of it is here: as a rule the wrong Kubernetes cluster. */
export function notHere(spec: EtcdSpec, { services, volumes }: Traces): ConfigProblem[] {
  if (services || volumes) return [];
  return [
    {
      path: "etcd:name",
      value: spec.name,
      rule: `the state has a cluster that is not here: there is no ${spec.workload.kind}, Service or PersistentVolumeClaim of ${spec.namespace}/${spec.name}; is this the right context?`,
      mend: "Name the right one (KUBECONFIG, kubernetes:context); if the cluster was deleted on purpose, run `pulumi refresh`, then `pulumi up`",
    },
  ];
}

/** For the user: somebody deleted the workload, and what becomes of it. */
export function deletedWorkload(spec: EtcdSpec, { volumes }: Traces): string[] {
  if (!volumes) return [];
  return [
    `${spec.workload.kind} ${spec.namespace}/${spec.name} was deleted by somebody, its volumes are there: the update makes it again on them. Where it ends with "not found", run \`pulumi refresh\` first, then \`pulumi up\``,
  ];
}

/** Whether neither the workload nor anything around it is here. */
export async function isGone(ports: Ports, spec: EtcdSpec): Promise<boolean> {
  if (await ports.kube.workload(spec)) return false;
  return notHere(spec, await findTraces(ports, spec)).length > 0;
}
