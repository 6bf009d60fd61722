import type { Scenario } from "./scenario";

/** Has no node take pods any more, as `kubectl cordon` does for one; returns what lets them again. */
export async function cordon({ kube }: Scenario): Promise<() => Promise<void>> {
  const nodes = (await kube.list("v1", "Node")).filter(
    ({ spec }) => !(spec as { unschedulable?: boolean }).unschedulable,
  );
  const set = async (unschedulable: boolean) => {
    for (const { metadata } of nodes)
      await kube.edit("v1", "Node", metadata.name, undefined, { spec: { unschedulable } });
  };
  await set(true);
  return () => set(false);
}
