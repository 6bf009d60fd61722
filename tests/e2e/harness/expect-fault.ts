import { expectSettled } from "./expect-settled";
import { bringAbout, type Fault, type FaultEvidence, range } from "./fault";
import type { Scenario } from "./scenario";
import { notTried, type steps } from "./suite";
import { outages, restarts } from "./timeline";

const FAULT_TIMEOUT_MS = 20 * 60_000;

/** Brings a fault about, and tests everything that must hold of it and after it. `group`: its table in docs/faults.md. */
export function describeFault(group: string, step: ReturnType<typeof steps>, scenario: () => Scenario, fault: Fault) {
  describe(`${fault.during}: ${fault.fault}`, () => {
    let seen: FaultEvidence | undefined;
    const evidence = () => {
      if (!seen) throw notTried("the fault was not brought about");
      return seen;
    };

    step(
      "is survived",
      async () => {
        seen = await bringAbout(scenario(), fault, group);
      },
      FAULT_TIMEOUT_MS,
    );

    test("loses no acknowledged write", () => {
      expect(evidence().lost).toEqual([]);
      for (const writer of evidence().writers) expect(writer.acknowledged).toBeGreaterThan(100);
    });

    if (!fault.stopsWrites) expectQuorumKept(scenario, fault, evidence);

    test("restarts only who is not there yet", () => {
      expect(evidence().gap).toBeUndefined();
      const observed = restarts(evidence().pods);
      expectWithin(
        fault.restarts,
        observed.map(({ member }) => member),
      );
      const failed = observed.filter(({ readyAt }) => readyAt === undefined).map(({ member }) => member);
      expectWithin(fault.failedStarts ?? 0, failed);
    });

    test("leaves no provider behind", () => expect(evidence().survivors).toEqual([]));

    expectSettled(
      scenario,
      { to: fault.to, ...fault.goal },
      () => evidence().aftermath,
      () => evidence().inspection,
    );
  });
}

function expectQuorumKept(scenario: () => Scenario, fault: Fault, evidence: () => FaultEvidence): void {
  test("fails no write of the client that tries again", () => {
    const patient = evidence().writers.find(({ name }) => name === "node");
    expect(patient?.failures).toEqual([]);
  });

  if (fault.mayLookDown) return;
  test("never has two members down at once", () => {
    const names = scenario().members.map(({ name }) => name);
    expect(outages(evidence().pods, names)).toEqual([]);
  });
}

/** So many, or from the least to the most; a failure shows which. */
function expectWithin(wanted: number | [number, number], members: string[]): void {
  const [least, most] = range(wanted);
  expect({ members, ok: members.length >= least && members.length <= most }).toEqual({ members, ok: true });
}
