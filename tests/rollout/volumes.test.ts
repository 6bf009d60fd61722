import type { KubeObject } from "../../manifests";
import type { ApplyOptions, Ports } from "../../rollout/ports";
import { checkVolumes, markVolumes } from "../../rollout/volumes";
import { plainSpec, tlsSpec } from "./world";

/** Keeps claims as the API server would, without their spec. */
class Claims {
  readonly objects = new Map<string, KubeObject>();
  uid = "first";
  readonly managers = new Set<string | undefined>();

  ports(): Ports {
    const kube = {
      workload: async () => ({ uid: this.uid }),
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

/** As earlier releases have left them. */
function keepOnlyScheme({ objects }: Claims): void {
  for (const { metadata } of objects.values()) {
    const scheme = metadata.annotations?.["pulumi-etcd/peer-scheme"];
    metadata.annotations = scheme ? { "pulumi-etcd/peer-scheme": scheme } : {};
  }
}

test.each([
  [1, 3, /data\/data-db-0\), of 1 member: members without data would begin a second cluster/, "replicas to 1,"],
  [3, 1, /data-db-0, .*data-db-1, .*data-db-2\), of 3 members: /, "replicas to 3,"],
  [5, 3, /data-db-4\), of 5 members: /, "replicas to 5,"],
])("of %i members, a cluster of %i does not start on them", async (was, wanted, rule, fix) => {
  const claims = new Claims();
  await markVolumes(claims.ports(), plainSpec(was));
  const [problem] = await checkVolumes(claims.ports(), plainSpec(wanted));
  expect(problem).toMatchObject({ path: "etcd:replicas", value: wanted });
  expect(problem?.rule).toMatch(rule);
  expect(problem?.mend).toContain(fix);
});

test("claims without a number that no member would mount tell of a larger cluster, too", async () => {
  const claims = new Claims();
  await markVolumes(claims.ports(), plainSpec(3));
  keepOnlyScheme(claims);
  expect((await checkVolumes(claims.ports(), plainSpec(1)))[0]?.rule).toMatch(/data-db-2\), of 3 members or more/);
  expect(await checkVolumes(claims.ports(), plainSpec(3))).toEqual([]);
  expect(await checkVolumes(claims.ports(), plainSpec(5))).toEqual([]);
});

test("the volumes of two clusters are not put together", async () => {
  const claims = new Claims();
  await markVolumes(claims.ports(), plainSpec(3));
  const kept = claims.objects.get("data-db-1")!;
  claims.uid = "second";
  await markVolumes(claims.ports(), plainSpec(3));
  expect(await checkVolumes(claims.ports(), plainSpec(3))).toEqual([]);
  claims.objects.set("data-db-1", kept);
  const [problem] = await checkVolumes(claims.ports(), plainSpec(3));
  expect(problem?.rule).toMatch(/of different clusters: PersistentVolumeClaim data\/data-db-1 not of the one/);
});

test.each([
  [3, 2, 0],
  [3, 1, 1],
  [5, 3, 0],
  [5, 2, 1],
])("of %i volumes %i are left: refused %i times", async (members, left, refusals) => {
  const claims = new Claims();
  await markVolumes(claims.ports(), plainSpec(members));
  for (let ordinal = left; ordinal < members; ordinal++) claims.objects.delete(`data-db-${ordinal}`);
  const problems = await checkVolumes(claims.ports(), plainSpec(members));
  expect(problems).toHaveLength(refusals);
  for (const { rule } of problems) expect(rule).toContain(`only ${left} ${left === 1 ? "is" : "are"} there`);
});

test("the note is nobody else's to take back", async () => {
  const claims = new Claims();
  await markVolumes(claims.ports(), plainSpec());
  expect([...claims.managers]).toEqual(["pulumi-etcd-volumes"]);
});
