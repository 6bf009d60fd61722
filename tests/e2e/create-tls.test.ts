import { onScenario } from "./harness/case";
import { eventually } from "./harness/command";
import { describeCreation } from "./harness/expectations";
import type { Scenario } from "./harness/scenario";
import { describeOnCluster } from "./harness/suite";

/** Kinds of which nothing may be left; volumes and their claims stay on purpose. */
const KINDS = [
  ["v1", "Pod"],
  ["v1", "Service"],
  ["v1", "Secret"],
  ["apps/v1", "StatefulSet"],
  ["policy/v1", "PodDisruptionBudget"],
  ["cert-manager.io/v1", "Certificate"],
] as const;

describeOnCluster("a cluster with TLS from its first day, by a ClusterIssuer", () => {
  const { step, current } = onScenario({ name: "tls", replicas: 3, issuerKind: "ClusterIssuer" }, async (scenario) => {
    await scenario.addTls();
  });

  describeCreation("created with TLS", step, current, "https");

  step(
    "destroy leaves nothing behind",
    async () => {
      expect(await current().stack.resourceCount()).toBeGreaterThan(10);
      await current().stack.destroy();
      // Pods end in their own time after their workload is gone.
      await eventually("everything to be gone", 60_000, async () => {
        const left = await leftovers(current());
        if (left.length > 0) throw new Error(`left: ${left.join(", ")}`);
        return true;
      });
      const bundle = await current().kube.get("v1", "ConfigMap", "etcd-trust-bundle", current().namespace);
      expect(bundle).toBeUndefined();
      expect(await current().stack.resourceCount()).toBe(0);
    },
    600_000,
  );
});

async function leftovers({ kube, namespace }: Scenario): Promise<string[]> {
  const left = await Promise.all(
    KINDS.map(async ([apiVersion, kind]) =>
      (await kube.list(apiVersion, kind, namespace)).map(({ metadata }) => `${kind} ${metadata.name}`),
    ),
  );
  return left.flat();
}
