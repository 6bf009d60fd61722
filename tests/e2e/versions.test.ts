import { onScenario } from "./harness/case";
import { OVER_TLS } from "./harness/change";
import { environment, skipReason } from "./harness/environment";
import { etcdctl } from "./harness/etcdctl";
import { describeChange, describeCreation } from "./harness/expectations";
import type { Scenario } from "./harness/scenario";
import { describeOnCluster, type Step } from "./harness/suite";

const [V3_5, V3_6, V3_7] = ["3.5.36", "3.6.17", "3.7.3"];

const SNAPSHOT = "let every member write a snapshot, so that none has entries of etcd 3.5 to read again";

/** Why the older releases are not to be had: the local cluster pulls no image, and was given none of them. */
function withoutImages(): string | undefined {
  if (skipReason() !== undefined) return undefined;
  const { image, variables } = environment();
  if (!image?.startsWith("localhost/")) return undefined;
  const there = (variables.PULUMI_ETCD_LOCAL_ETCD_OLDER ?? "").split(",");
  const missing = [V3_5, V3_6].filter((version) => !there.includes(`v${version}`));
  return missing.length > 0 ? `the cluster has no image of etcd ${missing.join(" and ")}` : undefined;
}

const lack = withoutImages();

if (lack) describe.skip(`versions of etcd [skipped: ${lack}]`, () => test("nothing", () => {}));
else describeOnCluster("versions of etcd", describeVersions);

function describeVersions() {
  const { step, current } = onScenario({ name: "versions", replicas: 3, issuerKind: "Issuer" }, async (scenario) => {
    await scenario.addTls();
    // 3.6 writes a snapshot after 10,000 entries by default, which the clients come to on a slow machine.
    await scenario.stack.set({ "etcd:extraArgs.snapshot-count": "100000" });
    await toVersion(scenario, V3_5);
  });

  describeCreation(`created with etcd ${V3_5} and TLS`, step, current, "https");
  expectVersion(step, current, V3_5);

  describeChange(`etcd ${V3_5} to ${V3_6}`, step, current, {
    ...OVER_TLS,
    name: "3.5 to 3.6",
    edit: (scenario) => toVersion(scenario, V3_6),
    passes: 1,
    renewed: [],
    says: [`etcd ${V3_5} -> ${V3_6}`, "wait until the cluster speaks etcd 3.6"],
  });
  expectVersion(step, current, V3_6);

  describeChange(`etcd ${V3_6} to ${V3_7}`, step, current, {
    ...OVER_TLS,
    name: "3.6 to 3.7",
    edit: (scenario) => toVersion(scenario, V3_7),
    passes: 1,
    renewed: [],
    // The cluster was upgraded just now, and its members have had no reason to write one.
    says: [`etcd ${V3_6} -> ${V3_7}`, SNAPSHOT, "wait until the cluster speaks etcd 3.7"],
  });
  expectVersion(step, current, V3_7);

  step("two minor releases at once are refused, with nothing changed", async () => {
    const before = (await current().pods()).map(({ uid }) => uid);
    await toVersion(current(), V3_5);
    await expect(current().stack.preview()).rejects.toThrow(/one minor release at a time/);
    await toVersion(current(), V3_7);
    expect((await current().pods()).map(({ uid }) => uid)).toEqual(before);
  });

  describeChange(`etcd ${V3_7} down to ${V3_6}`, step, current, {
    ...OVER_TLS,
    name: "3.7 down to 3.6",
    edit: (scenario) => toVersion(scenario, V3_6),
    passes: 1,
    renewed: [],
    says: [
      `etcd ${V3_7} -> ${V3_6}`,
      "enable the downgrade to etcd 3.6, and wait until every member has migrated its data",
    ],
  });
  expectVersion(step, current, V3_6);
}

/** What a user sets to have another version: an image of the registry, or one that the local cluster was given. */
async function toVersion({ stack, environment: { image } }: Scenario, version: string): Promise<void> {
  if (image) await stack.set({ "etcd:image": `${image.replace(/:[^:/]*$/, "")}:v${version}` });
  else await stack.set({ "etcd:version": version });
}

/** What every member says of itself, its data and the cluster, to etcd's own tool. */
function expectVersion(step: Step, current: () => Scenario, version: string): void {
  step(`every member runs etcd ${version}, and no downgrade is enabled`, async () => {
    const answer = await etcdctl(current(), "https", "endpoint", "status", "--write-out=json");
    const statuses = JSON.parse(answer) as {
      Status: { version: string; storageVersion?: string; downgradeInfo?: object };
    }[];
    expect(statuses.map(({ Status }) => Status.version)).toEqual([version, version, version]);
    for (const { Status } of statuses) expect(Status.downgradeInfo ?? {}).toEqual({});
    const data = version.startsWith("3.5") ? undefined : version.replace(/\d+$/, "0");
    expect(statuses.map(({ Status }) => Status.storageVersion)).toEqual([data, data, data]);
  });
}
