import { join } from "node:path";
import { deployerObjects } from "./harness/deployer";
import { ApiError, Kube, type ObjectSpec } from "./harness/kube";
import { Scenario } from "./harness/scenario";
import { describeOnCluster } from "./harness/suite";

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

type Role = ObjectSpec & { rules: Rule[] };

/** One right of each sort: the engine's own, one that only Pulumi's resources need, one of TLS, one of the whole cluster. */
const DROPPED = [
  { role: "Role", resource: "pods/eviction", says: "may not create pods/eviction" },
  { role: "Role", resource: "services", says: "may not get, list, watch, create, patch, delete services" },
  { role: "Role", resource: "certificates/status", says: "may not update certificates.cert-manager.io/status" },
  {
    role: "ClusterRole",
    resource: "clusterissuers",
    says: "may not get clusterissuers.cert-manager.io in the whole cluster",
  },
];

describeOnCluster("the deployer's rights", () => {
  let scenario: Scenario;

  beforeAll(async () => {
    scenario = await Scenario.open({ name: "rights", replicas: 1, issuerKind: "ClusterIssuer" });
    await scenario.addTls();
  }, 240_000);

  afterAll(() => scenario?.close(), 600_000);

  test("are those of the manifest: the rest of the cluster is closed", async () => {
    const deployer = new Kube(join(scenario.folder, "deployer.kubeconfig"));
    for (const [kind, namespace] of [
      ["Secret", "kube-system"],
      ["ServiceAccount", scenario.namespace],
      ["Node", undefined],
    ] as const) {
      const refusal = await deployer.list("v1", kind, namespace).catch((error: Error) => error);
      expect(refusal).toBeInstanceOf(ApiError);
      expect((refusal as ApiError).status).toBe(403);
    }
  });

  test("suffice for a preview", async () => {
    await scenario.stack.preview();
  }, 180_000);

  test.each(DROPPED)(
    "without $resource the preview is refused",
    async ({ role, resource, says }) => {
      const whole = deployerObjects(scenario.namespace).find(({ kind }) => kind === role) as Role;
      const rules = whole.rules.filter(({ resources }) => !resources.includes(resource));
      expect(rules).toHaveLength(whole.rules.length - 1);
      await scenario.kube.apply({ ...whole, rules });
      try {
        const printed = await scenario.stack.previewRefused();
        expect(printed).toContain(`etcd:namespace = "${scenario.namespace}"`);
        expect(printed).toContain(says);
        expect(printed).toContain("stacks/rbac.yaml");
        expect(await scenario.stack.resourceCount()).toBe(0);
      } finally {
        await scenario.kube.apply(whole);
      }
    },
    180_000,
  );
});
