import { REGRESSIONS } from "./regressions";
import { EngineKilled, live, plainSpec, Scenario, type Schedule, tlsSpec } from "./world";

const KILLED: Schedule = { replicas: 3, change: "add", revert: true, budget: true, durations: [], faults: [] };

test.each(Object.entries(REGRESSIONS))("%s", async (_, schedule) => (await live(schedule)).verify());

// Harmless, but nobody ever deletes them: a rerun of the same update would.
test.failing("killed while an issuer is asked, and reverted: the probe's Certificate and Secret stay", async () => {
  const faults = [{ kind: "kill-after" as const, change: 1, call: 0, choice: 0 }];
  const { world } = await live({ ...KILLED, faults });
  expect([...world.certManager.certificates.keys(), ...world.certManager.secrets.keys()]).toEqual([]);
});

// Each drained pod comes back on the template's scheme, and nobody is left with quorum to register it: the update
// cannot be finished any more.
test.failing.each([
  ["add", plainSpec(), tlsSpec(), 13],
  ["remove", tlsSpec(), plainSpec(), 1],
])(
  "%s: killed once the template changes the peers' scheme, then every node is drained",
  async (_, before, after, change) => {
    const scenario = new Scenario(before);
    await scenario.until(before);
    scenario.disturb([{ kind: "kill-after", change, call: 0, choice: 0 }]);
    await expect(scenario.once(after)).rejects.toBeInstanceOf(EngineKilled);
    scenario.invariants.podsReplaced = true;
    for (const ordinal of [2, 1, 0]) {
      scenario.world.deletePod(scenario.world.pods[ordinal]!);
      scenario.world.timeline.advance(30_000);
    }
    await scenario.until(after);
    scenario.verify();
  },
);
