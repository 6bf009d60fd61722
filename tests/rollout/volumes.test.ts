import type { KubeObject } from "../../manifests";
import type { ApplyOptions, Ports } from "../../rollout/ports";
import { checkVolumes, markVolumes } from "../../rollout/volumes";
import { plainSpec, tlsSpec } from "./world";

/** Keeps claims as the API server would, without their spec. */
class Claims {
  readonly objects = new Map<string, KubeObject>();
  readonly managers = new Set<string | undefined>();

  ports(): Ports {
    const kube = {
      get: async (_api: string, _kind: string, _namespace: string, name: string) => this.objects.get(name),
      apply: async (object: KubeObject, options?: ApplyOptions) => {
        this.managers.add(options?.fieldManager);
        this.objects.set(object.metadata.name, object);
        return object;
      },
    };
    return { kube } as unknown as Ports;
  }
}

test("a cluster may start again on the volumes that it left", async () => {
  const claims = new Claims();
  await markVolumes(claims.ports(), tlsSpec(3));
  expect([...claims.objects.keys()]).toEqual(["data-db-0", "data-db-1", "data-db-2"]);
  expect(await checkVolumes(claims.ports(), tlsSpec(3))).toEqual([]);
});

test("but not on another scheme: its members would not find each other", async () => {
  const claims = new Claims();
  await markVolumes(claims.ports(), tlsSpec(3));
  const [problem] = await checkVolumes(claims.ports(), plainSpec());
  expect(problem).toMatchObject({ path: "etcd:tls", value: "absent" });
  expect(problem?.rule).toMatch(/data-db-0.* know each other by https: on http they would never find each other/);
  expect(problem?.mend).toContain("Start the cluster with TLS as it was");
});

test("volumes that say nothing, or are not there, forbid nothing", async () => {
  const claims = new Claims();
  expect(await checkVolumes(claims.ports(), plainSpec())).toEqual([]);
  const metadata = { name: "data-db-1", namespace: "data" };
  claims.objects.set("data-db-1", { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata });
  expect(await checkVolumes(claims.ports(), plainSpec())).toEqual([]);
});

test("the note is nobody else's to take back", async () => {
  const claims = new Claims();
  await markVolumes(claims.ports(), plainSpec());
  expect([...claims.managers]).toEqual(["pulumi-etcd-volumes"]);
});
