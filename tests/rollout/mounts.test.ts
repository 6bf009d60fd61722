import type { KubeObject } from "../../manifests";
import { claimSecret, releaseSecret, releaseTrustBundle } from "../../rollout";
import { writeLeaf } from "../../rollout/leaf-secret";
import { plainSpec, Scenario, tlsSpec } from "./world";

const secret = { namespace: "data", secretName: "db-peer-cert", certificateName: "db-peer-cert" };

async function cluster(spec = tlsSpec(3)): Promise<Scenario> {
  const scenario = new Scenario(spec);
  await scenario.until(spec);
  return scenario;
}

/** A Secret that nobody mounts, made for a Certificate or by somebody else. */
function orphan(scenario: Scenario, madeFor?: string): void {
  const annotations: Record<string, string> = madeFor ? { "cert-manager.io/certificate-name": madeFor } : {};
  const object: KubeObject = { apiVersion: "v1", kind: "Secret", metadata: { name: secret.secretName, annotations } };
  scenario.world.certManager.secrets.set(secret.secretName, { certificate: "", key: "", ca: "", object });
}

describe("claiming a Secret's name", () => {
  test.each<[string, string | undefined, boolean]>([
    ["made for the same Certificate", "db-peer-cert", true],
    ["made for another Certificate", "web-cert", false],
    ["made by somebody else", undefined, false],
  ])("that is %s", async (_, madeFor, granted) => {
    const scenario = await cluster(plainSpec(3));
    orphan(scenario, madeFor);
    const claim = scenario.faults.run((ports) => claimSecret(ports, secret));
    if (granted) await expect(claim).resolves.toBeUndefined();
    else await expect(claim).rejects.toThrow("Secret data/db-peer-cert exists already and was not made for");
  });

  test("that has no annotations at all", async () => {
    const scenario = await cluster(plainSpec(3));
    orphan(scenario);
    delete scenario.world.certManager.secrets.get(secret.secretName)!.object.metadata.annotations;
    const claim = scenario.faults.run((ports) => claimSecret(ports, secret));
    await expect(claim).rejects.toThrow("Secret data/db-peer-cert exists already and was not made for");
  });

  test.each([
    ["the same certificate", "db-peer-cert", true],
    ["another", "web-cert", false],
  ])("that was written by us, for %s", async (_, madeFor, granted) => {
    const scenario = await cluster(plainSpec(3));
    const leaf = { secretName: secret.secretName, madeFor, material: { certificate: "", key: "" } };
    const claim = scenario.faults.run(async (ports) => {
      await writeLeaf(ports, plainSpec(3), leaf);
      await claimSecret(ports, secret);
    });
    if (granted) await expect(claim).resolves.toBeUndefined();
    else await expect(claim).rejects.toThrow("Secret data/db-peer-cert exists already and was not made for");
  });

  test("that is free", async () => {
    const scenario = await cluster(plainSpec(3));
    await expect(scenario.faults.run((ports) => claimSecret(ports, secret))).resolves.toBeUndefined();
  });
});

describe("releasing a Secret", () => {
  const release = (scenario: Scenario) => scenario.faults.run((ports) => releaseSecret(ports, secret));

  test("that nobody mounts deletes it", async () => {
    const scenario = await cluster(plainSpec(3));
    orphan(scenario, "db-peer-cert");
    await release(scenario);
    expect(scenario.world.certManager.secrets.has(secret.secretName)).toBe(false);
  });

  test("that somebody else made leaves it alone", async () => {
    const scenario = await cluster(plainSpec(3));
    orphan(scenario);
    await release(scenario);
    expect(scenario.world.certManager.secrets.has(secret.secretName)).toBe(true);
  });

  test("that is mounted keeps it, and says by whom", async () => {
    const scenario = await cluster();
    await expect(release(scenario)).rejects.toThrow("db-0, db-1, db-2 still mounts it; it is kept");
    expect(scenario.world.certManager.secrets.has(secret.secretName)).toBe(true);
  });

  test("waits for pods that are going", async () => {
    const scenario = await cluster();
    for (const pod of scenario.world.pods) pod.phase = "terminating";
    await release(scenario);
    expect(scenario.world.certManager.secrets.has(secret.secretName)).toBe(false);
  });

  test.each<[string, object]>([
    ["as a volume", { secret: { secretName: secret.secretName } }],
    ["in a projected volume", { projected: { sources: [{ secret: { name: secret.secretName } }] } }],
  ])("mounted %s by a member keeps it", async (_, volume) => {
    const scenario = await cluster(plainSpec(3));
    orphan(scenario, "db-peer-cert");
    const [pod] = scenario.world.pods;
    pod!.template = { ...pod!.template, spec: { volumes: [volume] } };
    await expect(release(scenario)).rejects.toThrow("waited 120 s for Secret db-peer-cert to be unused: db-0");
  });

  test.each([
    ["Succeeded", []],
    ["Failed", []],
    ["Running", [expect.stringContaining("although backup-1 still mounts it")]],
  ])("mounted by a pod of others that is %s does not wait, and tells of those that run", async (phase, told) => {
    const scenario = await cluster(plainSpec(3));
    orphan(scenario, "db-peer-cert");
    const spec = { volumes: [{ secret: { secretName: secret.secretName } }] };
    const metadata = { name: "backup-1", namespace: "data", labels: { "app.kubernetes.io/name": "backup" } };
    scenario.world.otherPods.push({ apiVersion: "v1", kind: "Pod", metadata, spec, status: { phase } });
    const steps: string[] = [];
    await scenario.faults.run((ports) =>
      releaseSecret({ ...ports, report: { step: ({ step }) => steps.push(step) } }, secret),
    );
    expect(steps).toEqual(told);
    expect(scenario.world.certManager.secrets.has(secret.secretName)).toBe(false);
  });
});

describe("releasing the trust bundle", () => {
  const release = (scenario: Scenario) =>
    scenario.faults.run((ports) => releaseTrustBundle(ports, "data", "db-trust-bundle"));

  test("that is mounted keeps it", async () => {
    await expect(release(await cluster())).rejects.toThrow("ConfigMap db-trust-bundle to be unused: db-0");
  });

  test("that nobody mounts deletes it, and a second time nothing", async () => {
    const scenario = await cluster(plainSpec(3));
    scenario.world.configMaps.set("db-trust-bundle", {} as KubeObject);
    await release(scenario);
    await release(scenario);
    expect(scenario.world.configMaps.size).toBe(0);
  });
});
