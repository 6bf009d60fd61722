import { eventually } from "./harness/command";
import { describeCreation } from "./harness/expectations";
import { Scenario } from "./harness/scenario";
import { describeOnCluster, steps } from "./harness/suite";

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
  const step = steps();
  let scenario: Scenario;

  beforeAll(async () => {
    scenario = await Scenario.open({ name: "tls", replicas: 3, issuerKind: "ClusterIssuer" });
    await scenario.addTls();
  }, 240_000);

  afterAll(() => scenario?.close(), 600_000);

  describeCreation("created with TLS", step, () => scenario, "https");

  step(
    "destroy leaves nothing behind",
    async () => {
      expect(await scenario.stack.resourceCount()).toBeGreaterThan(10);
      await scenario.stack.destroy();
      // Pods end in their own time after their workload is gone.
      await eventually("everything to be gone", 60_000, async () => {
        const left = await leftovers(scenario);
        if (left.length > 0) throw new Error(`left: ${left.join(", ")}`);
        return true;
      });
      const bundle = await scenario.kube.get("v1", "ConfigMap", "etcd-trust-bundle", scenario.namespace);
      expect(bundle).toBeUndefined();
      expect(await scenario.stack.resourceCount()).toBe(0);
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
