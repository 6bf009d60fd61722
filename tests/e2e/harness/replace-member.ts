import type { Scheme } from "../writer/config";
import { eventually } from "./command";
import { etcdctl } from "./etcdctl";
import { CLUSTER, type Scenario } from "./scenario";

/**
 * What has to be done by hand for a member whose data is gone, as etcd's documentation has it: out of the membership,
 * into it again, and a start that joins a cluster instead of making one. The next update puts the flag back.
 */
export async function replaceMember(scenario: Scenario, scheme: Scheme, member: string): Promise<void> {
  const { kube, namespace } = scenario;
  const list = await etcdctl(scenario, scheme, "member", "list");
  const [, id = "", urls = ""] = new RegExp(`^([0-9a-f]+), \\w+, ${member}, (\\S+), `, "m").exec(list) ?? [];
  await etcdctl(scenario, scheme, "member", "remove", id);
  await etcdctl(scenario, scheme, "member", "add", member, `--peer-urls=${urls}`);
  const workload = await kube.get("apps/v1", "StatefulSet", CLUSTER, namespace);
  if (!workload) throw new Error(`there is no StatefulSet ${CLUSTER}`);
  const { template } = workload.spec as { template: { spec: { containers: [{ args: string[] }] } } };
  const [container] = template.spec.containers;
  const args = container.args.map((arg) => arg.replace(/^(--initial-cluster-state)=new$/, "$1=existing"));
  const patch = { spec: { template: { spec: { containers: [{ ...container, args }] } } } };
  await kube.edit("apps/v1", "StatefulSet", CLUSTER, namespace, patch);
  await kube.delete("v1", "Pod", member, namespace);
  await eventually(`${member} to have joined`, 90_000, async () =>
    (await scenario.pods()).find(({ name, ready }) => name === member && ready) ? true : undefined,
  );
}
