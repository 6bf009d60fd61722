import { onScenario } from "../harness/case";
import { eventually } from "../harness/command";
import { describeFault } from "../harness/expect-fault";
import { describeCreation } from "../harness/expectations";
import type { FaultRun } from "../harness/fault";
import { makeIssuer } from "../harness/issuers";
import { OPERATIONS } from "../harness/kill-chain";
import { loseVolume, replaceMember } from "../harness/replace-member";
import type { Scenario } from "../harness/scenario";
import { describeOnCluster } from "../harness/suite";
import type { Scheme } from "../writer/config";

const GROUP = "Members that lose their volumes";

/**
 * A member that begins a cluster of its own takes connections and answers nobody, for as long as it is there. A client
 * that dials the members one by one loses attempts on it.
 */
const retry = { overallMs: 20_000 };

/** So that an update soon fails of a member that does not come back. */
const impatient = (edit: (each: Scenario) => Promise<void>) => async (each: Scenario) => {
  await edit(each);
  await each.stack.set({ "etcd:rollout.stepTimeout": "40s" });
};

describeOnCluster("faults: members that lose their volumes", () => {
  const { step, current } = onScenario({ name: "volumes", replicas: 3, issuerKind: "Issuer" }, (scenario) =>
    makeIssuer(scenario.kube, scenario.namespace, "other-ca"),
  );

  /** What its user does then, before the next update. */
  async function replace(run: FaultRun, scheme: Scheme, member: string): Promise<void> {
    await replaceMember(run.scenario, scheme, member);
    await run.scenario.stack.set({ "etcd:rollout.stepTimeout": "2m" });
    run.mendedByHand();
  }

  describeCreation("created without TLS", step, current, "http");

  describeFault(GROUP, step, current, {
    ...OPERATIONS.add,
    retry,
    edit: impatient(OPERATIONS.add.edit),
    fault: "a member has lost its volume before",
    happens: async (run) => {
      await loseVolume(run.scenario, "etcd-1");
      const update = run.start();
      const printed = await update.fail();
      expect(update.steps.filter((line) => /: (restart|move leadership|register)/.test(line))).toEqual([]);
      expect(printed).toContain("etcd-1");
      await replace(run, "http", "etcd-1");
    },
    // Without its data it starts in vain, twice; once more with its new place; and then with the others.
    restarts: 9,
    failedStarts: 2,
  });

  describeFault(GROUP, step, current, {
    ...OPERATIONS.issuer,
    retry,
    edit: impatient(OPERATIONS.issuer.edit),
    fault: "the member that restarts to trust both CAs loses its volume",
    happens: async (run) => {
      const update = run.start();
      const member = restarting(await update.said(/^widen: restarting \S+ \(1 of 3\)/));
      await loseVolume(run.scenario, member);
      expect(await update.fail()).toMatch(new RegExp(`${member} to be ready: .*its data is gone`));
      await replace(run, "https", member);
    },
    restarts: [6, 12],
    failedStarts: [0, 3],
  });

  describeFault(GROUP, step, current, {
    ...OPERATIONS.remove,
    retry,
    edit: impatient(OPERATIONS.remove.edit),
    fault: "the member that restarts in the first pass loses its volume",
    happens: async (run) => {
      const update = run.start();
      const member = restarting(await update.said(/^pass 1\/2: restarting \S+ \(1 of 3\)/));
      await loseVolume(run.scenario, member);
      // None of the others listens where it asks: it must not take its old place without its log.
      expect(await update.fail()).toMatch(new RegExp(`${member} to be ready: .*it has begun a cluster of its own`));
      await replace(run, "https", member);
    },
    restarts: [6, 12],
    failedStarts: [0, 3],
  });

  describeFault(GROUP, step, current, {
    ...OPERATIONS.add,
    retry,
    edit: impatient(OPERATIONS.add.edit),
    fault: "a member whose turn is still to come loses its volume in the second pass",
    happens: async (run) => {
      const update = run.start();
      const done = restarting(await update.said(/^pass 2\/2: restarting \S+ \(1 of 3\)/));
      await update.said(/^pass 2\/2: restart /);
      const member = ["etcd-0", "etcd-1", "etcd-2"].find((name) => name !== done) ?? "";
      await eventually("all members to be ready", 60_000, async () =>
        (await current().pods()).every(({ ready, terminating }) => ready && !terminating) ? true : undefined,
      );
      await loseVolume(run.scenario, member);
      expect(await update.fail()).toContain(member);
      await replace(run, "http", member);
    },
    restarts: [6, 12],
    failedStarts: [0, 3],
    mayLookDown: "whoever deletes the volume",
  });
});

function restarting(told: string): string {
  return /restarting (\S+)/.exec(told)?.[1] ?? "";
}
