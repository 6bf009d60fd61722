import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { parseSpec } from "../../config";
import { BRIDGE, PLAIN, renderWorkload, TLS } from "../../manifests";
import { eventually, sleep } from "./harness/command";
import { environment, repository } from "./harness/environment";
import { Kube, type LiveObject, type ObjectSpec } from "./harness/kube";
import { describeOnCluster } from "./harness/suite";

/** Folder with KubeDB's CustomResourceDefinitions, which are not part of this repository. */
const folder = process.env.PULUMI_ETCD_CRDS ?? join(repository, "..", "shared", "data");
const files = existsSync(folder)
  ? readdirSync(folder).filter((name) => /^apps\.k8s\.appscode\.com_.*\.ya?ml$/.test(name))
  : [];

const CRD = ["apiextensions.k8s.io/v1", "CustomResourceDefinition"] as const;
const NAMESPACE = "etcd-e2e-petset";

/** How long the API server needs to set up the storage of a new definition, with much to spare. */
const STORAGE_READY_MS = 10_000;
/** A definition that is deleted before that is tried again in minutes. */
const GONE_MS = 360_000;

if (files.length === 0) {
  test.skip(`PetSet [skipped: no CustomResourceDefinitions of apps.k8s.appscode.com in PULUMI_ETCD_CRDS=${folder}]`, () => {});
} else {
  describeOnCluster("a PetSet, as a real API server validates it", () => {
    let kube: Kube;
    const made: string[] = [];

    beforeAll(async () => {
      kube = new Kube(environment().kubeconfig);
      await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
      for (const definition of definitions()) {
        const { name } = definition.metadata;
        if (await kube.get(...CRD, name)) continue;
        await kube.apply(definition);
        made.push(name);
        await established(kube, name);
      }
    }, 120_000);

    afterAll(async () => {
      if (made.length > 0) await sleep(STORAGE_READY_MS);
      for (const name of made) await kube.delete(...CRD, name);
      await kube.deleteNamespace(NAMESPACE, 120_000);
      for (const name of made) {
        await eventually(`${name} to be gone`, GONE_MS, async () =>
          (await kube.get(...CRD, name)) ? undefined : true,
        );
      }
    }, GONE_MS + 180_000);

    const { spec } = parseSpec({
      namespace: NAMESPACE,
      createNamespace: false,
      workload: { kind: "PetSet", podPlacementPolicy: "default" },
      resources: { limits: { memory: "512Mi" } },
      tls: { issuerRef: { name: "etcd-ca" } },
    });
    const render = (stage: typeof PLAIN) =>
      renderWorkload(stage === PLAIN ? { ...spec, tls: undefined } : spec, {
        stage,
        ...(stage !== PLAIN && { trustRevision: "0123456789ab" }),
      });

    test.each([
      ["plain", PLAIN],
      ["bridge", BRIDGE],
      ["tls", TLS],
    ])("is accepted on the stage %s", async (_, stage) => {
      const rendered = render(stage);
      expect(rendered.kind).toBe("PetSet");
      const accepted = await kube.apply(rendered, { dryRun: true });
      // What the schema does not know is dropped in silence: everything that was sent must have come back.
      expect(accepted.spec).toMatchObject(rendered.spec as object);
    });

    test("is refused with a field of the wrong type, so that acceptance means something", async () => {
      const rendered = render(PLAIN);
      const broken = { ...rendered, spec: { ...(rendered.spec as object), replicas: "three" } };
      await expect(kube.apply(broken, { dryRun: true })).rejects.toThrow();
    });
  });
}

function definitions(): ObjectSpec[] {
  return files.flatMap((name) =>
    parseAllDocuments(readFileSync(join(folder, name), "utf8")).map((document) => document.toJS() as ObjectSpec),
  );
}

async function established(kube: Kube, name: string): Promise<void> {
  await eventually(`${name} to be served`, 60_000, async () => {
    const status = (await kube.get(...CRD, name))?.status as LiveObject["status"] & {
      conditions?: { type: string; status: string }[];
    };
    return status?.conditions?.some((each) => each.type === "Established" && each.status === "True") ? true : undefined;
  });
}
