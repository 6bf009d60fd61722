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

describe("leaves that are out of their time", () => {
  const issuerRef = { name: "ca-a", kind: "Issuer" };
  const certificates = ["server", "peer", "client"].map((alias) => ({ alias, duration: "1h", renewBefore: "10m" }));
  const spec = tlsSpec(3, { tls: { issuerRef, certificates } });
  const reissues = ["server", "peer", "client"].map((alias) => `re-issue Certificate db-${alias}-cert`);

  /** Two hours after they were issued for one, and an issuer whose clock is off by so many hours. */
  async function expired(hours: number): Promise<Scenario> {
    const scenario = new Scenario(spec);
    await scenario.until(spec);
    const { certManager, timeline } = scenario.world;
    timeline.advance(2 * 3_600_000);
    certManager.issuersTime = scenario.world.now() + hours * 3_600_000;
    return scenario;
  }

  test("expired, because nobody renewed them: an update has them issued anew, and restarts nobody", async () => {
    const scenario = await expired(0);
    const { evictions } = scenario.invariants;
    const restarts = evictions.length;
    const { planned, recorded } = await scenario.once(spec);
    expect(recorded).toEqual(planned);
    expect(recorded).toEqual([...reissues, "wait until every member serves its new certificates"]);
    expect(evictions).toHaveLength(restarts);
    scenario.checkReached(spec);
    scenario.verify();
  });

  test.each([
    ["expired again", -2, /Secret db-(server|peer|client)-cert: the certificate expired on .* GMT$/],
    ["not valid yet", 2, /Secret db-(server|peer|client)-cert: the certificate is not valid before .* GMT$/],
  ])("%s as they are issued, because the issuer's clock is wrong: the update says so", async (_, hours, reason) => {
    const scenario = await expired(hours);
    await expect(scenario.once(spec)).rejects.toThrow(reason);
    scenario.verify();
  });
});
