import type { Change } from "./change";
import { electionsBetween, leaderAt } from "./leadership";
import type { Evidence } from "./operation";
import { planDifference } from "./plan-lines";
import type { Scenario } from "./scenario";
import { deletedUnderPods, outages, passes, restarts } from "./timeline";

/** Tests how the members were restarted, and that it is what was announced. */
export function expectWalk(scenario: () => Scenario, change: Change, evidence: () => Evidence): void {
  const single = () => scenario().members.length === 1;
  // A single member has no neighbour to keep talking to, and goes straight to the end.
  const passCount = () => change.passes ?? (single() ? 1 : 2);

  test("never has two members down at once", () => {
    expect(evidence().gap).toBeUndefined();
    const names = scenario().members.map((member) => member.name);
    expect(outages(evidence().pods, names)).toEqual([]);
  });

  test("restarts every member once a pass, as it says itself", () => {
    expectPasses(scenario(), evidence(), passCount());
  });

  test("has no container restart inside its pod", () => {
    expect(evidence().pods.filter(({ pod }) => pod.containerRestarts > 0)).toEqual([]);
  });

  test("changes the leader once a pass at most, and restarts the old leader last", () => {
    if (!single()) expectLeaderLast(evidence());
  });

  test("records the steps that its preview printed", () => {
    const { planned, recorded, leaderships, startedAt, predictedLeader } = evidence();
    const leader = leaderAt(leaderships, startedAt) ?? leaderships[0]?.leader;
    const changed = predictedLeader !== undefined && predictedLeader !== leader;
    expect(planned).not.toEqual([]);
    expect(planDifference(planned, recorded.steps, changed)).toBeUndefined();
  });

  const { says = [] } = change;
  if (says.length > 0) {
    test("says in preview what it will do", () => {
      for (const part of says) {
        expect(evidence().preview).toEqual(
          typeof part === "string" ? expect.stringContaining(part) : expect.stringMatching(part),
        );
      }
    });
  }

  const { differs = [] } = change;
  if (differs.length > 0) {
    test("shows in preview the fields that differ", () => {
      for (const part of differs) expect(evidence().differences).toContain(part);
    });
  }

  test("deletes no Secret that a pod mounts", () => {
    expect(deletedUnderPods(evidence().deletedSecrets, evidence().pods)).toEqual([]);
    if (change.to === "http") expect(evidence().deletedSecrets.length).toBeGreaterThanOrEqual(3);
  });
}

function expectPasses(scenario: Scenario, { pods, recorded }: Evidence, passCount: number): void {
  const observed = restarts(pods);
  expect(observed.map((restart) => restart.member)).toEqual(recorded.restarts.map((restart) => restart.member));
  expect(observed.filter((restart) => restart.readyAt === undefined)).toEqual([]);
  const names = scenario.members.map((member) => member.name).sort();
  const walked = passes(observed);
  expect(walked).toHaveLength(passCount);
  for (const pass of walked) expect(pass.restarts.map((restart) => restart.member).sort()).toEqual(names);
}

function expectLeaderLast({ pods, leaderships, startedAt }: Evidence): void {
  const walked = passes(restarts(pods));
  expect(leaderships).not.toEqual([]);
  walked.forEach((pass, index) => {
    const from = walked[index - 1]?.restarts.at(-1)?.readyAt ?? startedAt;
    const to = pass.restarts.at(-1)?.readyAt ?? from;
    const leader = leaderAt(leaderships, from) ?? leaderships[0]?.leader;
    expect({ pass: index + 1, last: pass.restarts.at(-1)?.member }).toEqual({ pass: index + 1, last: leader });
    expect(electionsBetween(leaderships, from, to).length).toBeLessThanOrEqual(1);
  });
}
