import { onScenario } from "./harness/case";
import { eventually } from "./harness/command";
import { PulumiError } from "./harness/pulumi";
import { CLUSTER } from "./harness/scenario";
import { describeOnCluster } from "./harness/suite";

const UPDATE_MS = 300_000;

/** What would replace the workload, or take it away for another one. */
const DESTRUCTIVE: { set: Record<string, string>; says: string }[] = [
  { set: { "etcd:storage.size": "1Gi" }, says: 'etcd:storage.size = "1Gi"' },
  { set: { "etcd:storage.class": "another" }, says: 'etcd:storage.class = "another"' },
  { set: { "etcd:name": "renamed" }, says: 'etcd:name = "renamed"' },
  { set: { "etcd:clusterDomain": "k8s.local" }, says: 'etcd:clusterDomain = "k8s.local"' },
  { set: { "etcd:replicas": "3" }, says: "etcd:replicas = 3" },
];

describeOnCluster("a cluster that is protected", () => {
  const { step, current } = onScenario({ name: "protect", replicas: 1, issuerKind: "Issuer" }, async (scenario) => {
    // The suite's own scenarios are there to be destroyed.
    await scenario.stack.unset("etcd:protect");
  });

  /** Everything of the cluster, each with the identity that it was made with. */
  async function identities(): Promise<string[]> {
    const kinds = [
      ["v1", "Pod"],
      ["v1", "Service"],
      ["apps/v1", "StatefulSet"],
      ["policy/v1", "PodDisruptionBudget"],
    ] as const;
    const lists = await Promise.all(
      kinds.map(([apiVersion, kind]) => current().kube.list(apiVersion, kind, current().namespace)),
    );
    return lists
      .flat()
      .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.uid}`)
      .sort();
  }

  async function failureOf(run: () => Promise<unknown>): Promise<string> {
    const error = await run().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(PulumiError);
    const { result } = error as PulumiError;
    return `${result.stdout}\n${result.stderr}`;
  }

  step(
    "comes up",
    () =>
      current()
        .stack.up({ skipPreview: true })
        .then(() => undefined),
    UPDATE_MS,
  );

  step(
    "what would replace its workload is refused in preview",
    async () => {
      const config = current().stack.saveConfig();
      const before = await identities();
      for (const { set, says } of DESTRUCTIVE) {
        await current().stack.set(set);
        const printed = await current().stack.previewRefused();
        expect(printed).toContain(says);
        expect(printed).toMatch(/is fixed once the cluster runs/);
        expect(printed).toContain("in a stack of its own");
        current().stack.restoreConfig(config);
      }
      expect(await identities()).toEqual(before);
    },
    UPDATE_MS,
  );

  step(
    "destroy is refused, and takes nothing away",
    async () => {
      const before = await identities();
      expect(before.length).toBeGreaterThanOrEqual(5);
      const printed = await failureOf(() => current().stack.destroy());
      expect(printed).toContain("protect");
      expect(printed).toContain(`StatefulSet::${CLUSTER}`);
      expect(await identities()).toEqual(before);
    },
    UPDATE_MS,
  );

  step(
    "an update of the workload alone, past the walk that judges it, is refused with and without the protection",
    async () => {
      const config = current().stack.saveConfig();
      const before = await identities();
      await current().stack.set({ "etcd:storage.size": "1Gi" });
      for (const skipPreview of [false, true]) {
        const printed = await failureOf(() => current().stack.up({ skipPreview, target: `**StatefulSet::${CLUSTER}` }));
        expect(printed).toContain("the members have not been walked to this config");
        await current().stack.set({ "etcd:protect": "false" });
      }
      current().stack.restoreConfig(config);
      expect(await identities()).toEqual(before);
    },
    UPDATE_MS,
  );

  step(
    "the protection is taken away without a change to anything",
    async () => {
      const before = await identities();
      await current().stack.set({ "etcd:protect": "false" });
      await current().stack.preview({ expectNoChanges: true });
      await current().stack.up({ skipPreview: true, expectNoChanges: true });
      expect(await identities()).toEqual(before);
    },
    UPDATE_MS,
  );

  step(
    "then destroy does what it says",
    async () => {
      await current().stack.destroy();
      await eventually("everything to be gone", 60_000, async () => {
        return (await identities()).length === 0 ? true : undefined;
      });
      expect(await current().stack.resourceCount()).toBe(0);
    },
    UPDATE_MS,
  );
});
