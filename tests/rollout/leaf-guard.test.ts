import { certificateName } from "../../config";
import { carryOut } from "../../rollout";
import { Scenario, tlsSpec } from "./world";
import { authority } from "./world/cert-manager";
import { OWNER } from "./world/program";

const issuerRef = { name: "vault", kind: "Issuer" };
const before = tlsSpec(3, { tls: { issuerRef }, rollout: { stepTimeout: "30s" } });
const rotated = tlsSpec(3, { tls: { issuerRef, rotate: "1" }, rollout: { stepTimeout: "30s" } });

/** A cluster whose issuer does not show its CA, and has come to sign with another one. */
async function rekeyed(): Promise<Scenario> {
  const scenario = new Scenario(before);
  const issuer = scenario.world.certManager.addIssuer("Issuer", "vault", { type: "vault" });
  await scenario.until(before);
  issuer.authority = authority("vault", 1);
  return scenario;
}

const leaves = ({ world }: Scenario) => [...world.certManager.secrets.values()].map(({ certificate }) => certificate);

/** Only the walk's resource: what `pulumi up --target` comes to. */
function walkAlone(scenario: Scenario, spec = rotated) {
  const { settled } = scenario.state.trust!;
  return scenario.faults.run((ports) => carryOut(ports, { spec, owner: OWNER, settled }, before));
}

describe("an issuer that does not show its CA, and signs with another one by now", () => {
  test("is asked before certificates are rotated", async () => {
    const scenario = await rekeyed();
    await scenario.until(rotated);
    expect(scenario.updates).toBe(1);
    scenario.verify();
  });

  test("is asked before an edited Certificate is restored", async () => {
    const scenario = await rekeyed();
    const { certManager } = scenario.world;
    const name = certificateName(before, "peer");
    const live = certManager.certificates.get(name)!;
    certManager.certificates.set(name, { ...live, spec: { ...live.spec, dnsNames: ["somebody-elses"] } });
    const { planned } = await scenario.once(before);
    expect(planned).toEqual(expect.arrayContaining(["ask Issuer vault for its CA", `restore Certificate ${name}`]));
    scenario.verify();
  });

  test.each([
    ["rotated", rotated, () => {}],
    ["restored", before, ({ world }: Scenario) => world.certManager.delete(certificateName(before, "peer"))],
  ])("issues nothing that is to be %s while the trust has not been widened", async (_, spec, happens) => {
    const scenario = await rekeyed();
    happens(scenario);
    const served = leaves(scenario);
    await expect(walkAlone(scenario, spec)).rejects.toThrow(/Issuer vault signs with CN=vault.*without --target/);
    scenario.world.timeline.advance(120_000);
    expect(leaves(scenario)).toEqual(served);
    scenario.verify();
  });
});

test("a leaf that no member accepts any more is issued anew whoever signs it", async () => {
  const scenario = await rekeyed();
  const { certManager } = scenario.world;
  const name = certificateName(before, "client");
  const { secretName } = before.tls!.certificates.find(({ alias }) => alias === "client")!;
  certManager.delete(name);
  certManager.deleteSecret(secretName);
  await walkAlone(scenario, before).catch(() => undefined);
  expect(certManager.certificates.has(name)).toBe(true);
});
