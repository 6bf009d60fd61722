import { CLUSTER, type Scenario } from "./scenario";

interface Container {
  args: string[];
}

/** The flags of etcd in the workload's template. */
export async function memberArgs(scenario: Scenario): Promise<string[]> {
  return (await memberContainer(scenario)).args;
}

/** Changes them as `kubectl edit` does. */
export async function editMemberArgs(scenario: Scenario, change: (args: string[]) => string[]): Promise<void> {
  const container = await memberContainer(scenario);
  const edited = { ...container, args: change(container.args) };
  const patch = { spec: { template: { spec: { containers: [edited] } } } };
  await scenario.kube.edit("apps/v1", "StatefulSet", CLUSTER, scenario.namespace, patch);
}

async function memberContainer({ kube, namespace }: Scenario): Promise<Container> {
  const workload = await kube.get("apps/v1", "StatefulSet", CLUSTER, namespace);
  if (!workload) throw new Error(`there is no StatefulSet ${CLUSTER}`);
  const { template } = workload.spec as { template: { spec: { containers: [Container] } } };
  return template.spec.containers[0];
}
