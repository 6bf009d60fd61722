import fc from "fast-check";
import { plainSpec, Scenario, tlsSpec } from "./world";

const durations = fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 24 });

describe.each([1, 3, 5])("%i members, nothing interferes", (replicas) => {
  test("create, add, remove, add", async () => {
    await fc.assert(
      fc.asyncProperty(durations, async (shares) => {
        const scenario = new Scenario(plainSpec(replicas), { durations: shares });
        await scenario.until(plainSpec(replicas));
        for (const spec of [tlsSpec(replicas), plainSpec(replicas), tlsSpec(replicas)]) {
          await scenario.until(spec);
        }
        expect(scenario.failures).toEqual([]);
        expect(scenario.invariants.broken).toEqual([]);
      }),
      { numRuns: 5 },
    );
  });
});
