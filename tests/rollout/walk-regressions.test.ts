import { REGRESSIONS } from "./regressions";
import { EngineKilled, live, plainSpec, Scenario, type Schedule, tlsSpec } from "./world";

const KILLED: Schedule = { replicas: 3, change: "add", revert: true, budget: true, durations: [], faults: [] };

test.each(Object.entries(REGRESSIONS))("%s", async (_, schedule) => (await live(schedule)).verify());

test.each([1, 2, 3])("killed while an issuer is asked, and reverted: change %i leaves no probe", async (change) => {
  const faults = [{ kind: "kill-after" as const, change, call: 0, choice: 0 }];
  const scenario = await live({ ...KILLED, faults });
  expect(scenario.ending).toBe("reverted after a kill");
  const { certificates, secrets } = scenario.world.certManager;
  expect([...certificates.keys(), ...secrets.keys()]).toEqual([]);
});

test("another cluster's probes are left alone", async () => {
  const spec = tlsSpec();
  const scenario = new Scenario(spec);
  const { certManager } = scenario.world;
  const labels = { "pulumi-etcd/probe-of": "another" };
  const issuerRef = { kind: "Issuer", name: "ca-a" };
  const theirs = { secretName: "another-probe", secretTemplate: { labels }, issuerRef };
  const metadata = { name: "another-probe", namespace: "data", labels };
  certManager.apply({ apiVersion: "cert-manager.io/v1", kind: "Certificate", metadata, spec: theirs });
  scenario.world.timeline.advance(10_000);
  await scenario.once(spec);
  expect(certManager.certificates.has("another-probe")).toBe(true);
  expect(certManager.secrets.has("another-probe")).toBe(true);
});

// Each drained pod comes back on the template's scheme: enough of them must be registered for it already.
test.each([
  ["add", plainSpec(), tlsSpec(), 15],
  ["remove", tlsSpec(), plainSpec(), 2],
])(
  "%s: killed once the template changes the peers' scheme, then every node is drained",
  async (_, before, after, change) => {
    const scenario = new Scenario(before);
    await scenario.until(before);
    scenario.disturb([{ kind: "kill-after", change, call: 0, choice: 0 }]);
    await expect(scenario.once(after)).rejects.toBeInstanceOf(EngineKilled);
    const { world } = scenario;
    expect(world.raft.members.filter(({ peerUrls }) => peerUrls.length === 2).map(({ name }) => name)).toEqual([
      "db-2",
    ]);
    scenario.invariants.podsReplaced = true;
    for (const ordinal of [2, 1, 0]) {
      world.deletePod(world.pods[ordinal]!);
      world.timeline.advance(30_000);
    }
    const stages = new Set(world.raft.members.map(({ process }) => process?.stage.peer));
    expect([...stages]).toEqual([after.tls ? "tls" : "bridge"]);
    expect(world.raft.hasQuorum()).toBe(true);
    await scenario.until(after);
    scenario.verify();
  },
);
