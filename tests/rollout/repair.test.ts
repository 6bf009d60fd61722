import { plainSpec, Scenario, tlsSpec } from "./world";
import type { Pod } from "./world/pods";

const spec = tlsSpec(3);

/** The CA is renewed with another key, then the leaves are, and nobody has run an update in between. */
async function renewed(replicas = 3, { keep = true, leaves = ["server", "peer", "client"] } = {}): Promise<Scenario> {
  const scenario = new Scenario(tlsSpec(replicas));
  await scenario.until(tlsSpec(replicas));
  const { certManager, raft } = scenario.world;
  certManager.rekey(certManager.issuers.get("Issuer/ca-a")!);
  if (keep) raft.keepConnections();
  for (const name of certManager.certificates.keys())
    if (leaves.some((leaf) => name.includes(leaf))) certManager.renew(name);
  scenario.world.timeline.advance(100_000);
  return scenario;
}

/** Who leads once members have found each other again decides the order of the rest, and takes a step of its own. */
const inAnyOrder = (steps: string[]) => steps.filter((step) => !step.includes("move leadership")).sort();
const repairOf = (steps: string[]) => steps.slice(0, steps.findLastIndex((step) => step.startsWith("repair:")) + 1);

function expectAsPlanned({ planned, recorded }: { planned: string[]; recorded: string[] }): void {
  expect(repairOf(recorded)).toEqual(repairOf(planned));
  expect(inAnyOrder(recorded)).toEqual(inAnyOrder(planned));
}

const restartsOf = (steps: string[]) => steps.filter((step) => step.startsWith("repair: restart"));

describe("members that do not trust their own renewed leaves", () => {
  test("with all members up, on the connections that they have: as planned", async () => {
    const scenario = await renewed();
    const { raft } = scenario.world;
    expect(raft.hasQuorum()).toBe(true);
    const leader = raft.leader?.name;
    const { planned, recorded } = await scenario.once(spec);
    expectAsPlanned({ planned, recorded });
    const restarts = restartsOf(planned);
    expect(restarts).toHaveLength(3);
    expect(restarts[2]).toBe(`repair: restart ${leader}`);
    scenario.checkReached(spec);
    scenario.verify();
  });

  test.each<[string, number, boolean, (pods: Pod[]) => Pod[]]>([
    ["with one pod deleted", 3, true, (pods) => pods.slice(1, 2)],
    ["with all pods deleted", 3, true, (pods) => pods],
    ["with no open connection left", 3, false, () => []],
    ["with five members, two of them deleted", 5, true, (pods) => pods.slice(0, 2)],
    ["with one member", 1, true, () => []],
  ])("%s", async (_, replicas, keep, lost) => {
    const wanted = tlsSpec(replicas);
    const scenario = await renewed(replicas, { keep });
    const { world } = scenario;
    for (const pod of lost([...world.pods])) world.deletePod(pod);
    world.timeline.advance(60_000);
    const written = world.raft.committed;
    const { planned, recorded } = await scenario.once(wanted);
    expectAsPlanned({ planned, recorded });
    expect(restartsOf(planned)).toHaveLength(replicas);
    expect(world.raft.committed).toBeGreaterThan(written);
    scenario.checkReached(wanted);
    scenario.verify();
  });

  test("with the client's leaf alone renewed: writes go on", async () => {
    const scenario = await renewed(3, { leaves: ["client"] });
    const { planned, preview } = await scenario.once(spec);
    expect(restartsOf(planned)).toHaveLength(3);
    scenario.checkReached(spec);
    scenario.verify();
    expect(preview).toBeDefined();
  });

  test("on the way out of TLS", async () => {
    const scenario = await renewed();
    const { planned, recorded } = await scenario.once(plainSpec(3));
    expectAsPlanned({ planned, recorded });
    expect(restartsOf(planned)).toHaveLength(3);
    scenario.checkReached(plainSpec(3));
    scenario.verify();
  });

  test("and with another issuer wanted at the same time", async () => {
    const scenario = await renewed();
    const other = tlsSpec(3, { tls: { issuerRef: { name: "ca-b", kind: "Issuer" } } });
    await scenario.once(other);
    scenario.checkReached(other);
    scenario.verify();
  });
});
