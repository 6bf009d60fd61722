import { onScenario } from "../harness/case";
import { eventually } from "../harness/command";
import { drain } from "../harness/drain";
import { describeFault } from "../harness/expect-fault";
import { describeCreation } from "../harness/expectations";
import type { Fault, FaultRun } from "../harness/fault";
import { makeIssuer } from "../harness/issuers";
import { OPERATIONS } from "../harness/kill-chain";
import { describeOnCluster } from "../harness/suite";

const GROUP = "Pods that go after each step";

describeOnCluster("faults: pods that go after each step", () => {
  const { step, current } = onScenario({ name: "each-step", replicas: 3, issuerKind: "Issuer" }, (scenario) =>
    makeIssuer(scenario.kube, scenario.namespace, "other-ca"),
  );

  /** Takes one member's pod after the other, one after each step, for as long as the update goes on. */
  async function afterEachStep(run: FaultRun, take: (member: string) => Promise<unknown>): Promise<number> {
    const update = run.start();
    let taken = 0;
    // What is done while a pod is taken counts as one step.
    while ((await update.stepsDone(update.steps.length + 1)) !== undefined) {
      await take(current().members[taken++ % 3]?.name ?? "");
    }
    await update.succeed();
    process.stderr.write(`${taken} pods were taken after ${update.steps.length} steps\n`);
    return taken;
  }

  const evict: Pick<Fault, "fault" | "happens"> = {
    fault: "a pod is evicted after each step, one member after the other, as soon as the PodDisruptionBudget allows it",
    happens: async (run) => {
      expect(await afterEachStep(run, (member) => drain(current(), member))).toBeGreaterThan(3);
    },
  };

  const remove: Pick<Fault, "fault" | "happens" | "mayLookDown"> = {
    fault: "a pod is deleted after each step, one member after the other, once all are ready",
    happens: async (run) => {
      const taken = await afterEachStep(run, async (member) => {
        await eventually("all members to be ready", 60_000, async () => {
          const pods = await current().pods();
          return pods.filter(({ ready, terminating }) => ready && !terminating).length === 3 ? true : undefined;
        });
        await current().kube.delete("v1", "Pod", member, current().namespace);
      });
      expect(taken).toBeGreaterThan(3);
    },
    // No budget is asked: at that moment the engine's eviction of another member may have been allowed already.
    mayLookDown: "whoever deletes the pods",
  };

  describeCreation("created without TLS", step, current, "http");

  describeFault(GROUP, step, current, { ...OPERATIONS.add, ...evict, restarts: [6, 16], failedStarts: [0, 3] });
  describeFault(GROUP, step, current, { ...OPERATIONS.issuer, ...evict, restarts: [6, 16], failedStarts: [0, 3] });
  describeFault(GROUP, step, current, { ...OPERATIONS.remove, ...evict, restarts: [6, 16], failedStarts: [0, 3] });
  describeFault(GROUP, step, current, { ...OPERATIONS.add, ...remove, restarts: [6, 16], failedStarts: [0, 3] });
});
