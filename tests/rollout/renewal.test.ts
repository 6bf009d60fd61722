import { Scenario, tlsSpec } from "./world";
import type { CertificateObject } from "./world/cert-manager";

/** cert-manager renews by itself; the kubelet brings the Secret to the pods up to a minute and a half later. */
async function renewed(scenario: Scenario): Promise<void> {
  const { certManager, timeline } = scenario.world;
  for (const live of certManager.certificates.values()) {
    const object = structuredClone(live) as CertificateObject;
    object.status.conditions.push({ type: "Issuing", status: "True" });
    certManager.replaceStatus(object);
  }
  timeline.advance(10_000);
}

test("a renewal that the kubelet has not brought to the members yet is nothing that an update must do", async () => {
  const spec = tlsSpec();
  const scenario = new Scenario(spec);
  await scenario.until(spec);
  const before = scenario.world.certManager.secrets.get("db-server-cert")?.certificate;
  await renewed(scenario);
  expect(scenario.world.certManager.secrets.get("db-server-cert")?.certificate).not.toBe(before);
  const { planned, recorded } = await scenario.once(spec);
  expect([...planned, ...recorded]).toEqual([]);
  scenario.verify();
});

test("but no CA is dropped before every member serves what was renewed", async () => {
  const spec = tlsSpec();
  const scenario = new Scenario(spec);
  await scenario.until(spec);
  const other = tlsSpec(3, { tls: { issuerRef: { name: "ca-b", kind: "Issuer" } } });
  const { planned, recorded } = await scenario.once(other);
  expect(recorded).toEqual(planned);
  expect(recorded).toContain("wait until every member serves its new certificates");
  scenario.verify();
});
